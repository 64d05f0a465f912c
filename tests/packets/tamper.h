// Spoils one rule of what is sent, to prove that the model objects to it.

#ifndef PENSTOCK_TESTS_PACKETS_TAMPER_H_
#define PENSTOCK_TESTS_PACKETS_TAMPER_H_

#include <string_view>
#include <vector>

#include "tests/packets/world.h"

namespace penstock::packets {

// Names of the rules.
[[nodiscard]] std::vector<std::string_view> TamperRules();

// Breaks `rule` in what came of `received`, if it is about this packet. Outer IPv4 checksums are
// made right again, so that only the rule is broken. REQUIRES: a name of TamperRules.
void Tamper(std::string_view rule, const Frame& received, Outcome& outcome);

}  // namespace penstock::packets

#endif  // PENSTOCK_TESTS_PACKETS_TAMPER_H_
