// The hash and the tables of a World as text, for comparison with another program's.

#ifndef PENSTOCK_TESTS_PACKETS_HASHES_H_
#define PENSTOCK_TESTS_PACKETS_HASHES_H_

#include <istream>
#include <string>

#include "tests/packets/world.h"

namespace penstock::packets {

// Reads "PROTOCOL SOURCE PORT DESTINATION PORT"; 16 hexadecimal digits.
[[nodiscard]] std::string HashOf(const World& world, std::istream& words);

// Reads "SLOTS"; " ADDRESS" for who gets new flows in each of the first slots of the first pool, "
// -" for nobody.
[[nodiscard]] std::string OwnersOf(const World& world, std::istream& words);
// The same for the previous owners.
[[nodiscard]] std::string PreviousOwnersOf(const World& world, std::istream& words);

}  // namespace penstock::packets

#endif  // PENSTOCK_TESTS_PACKETS_HASHES_H_
