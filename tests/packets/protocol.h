// The words and digits of packet_driver's commands and answers.

#ifndef PENSTOCK_TESTS_PACKETS_PROTOCOL_H_
#define PENSTOCK_TESTS_PACKETS_PROTOCOL_H_

#include <cstdint>
#include <string>

#include "tests/packets/world.h"

namespace penstock::packets {

// Says why on standard error and ends the program with 2.
[[noreturn]] void Die(const std::string& why);

// Hexadecimal digits, or "-" for no byte at all. Dies of anything else.
[[nodiscard]] Bytes FromHex(const std::string& hex);
[[nodiscard]] std::string ToHex(const Bytes& bytes);

// PacketBurst::flags from names with commas between, or "-". Dies of an unknown name.
[[nodiscard]] uint8_t FlagsFrom(const std::string& names);

}  // namespace penstock::packets

#endif  // PENSTOCK_TESTS_PACKETS_PROTOCOL_H_
