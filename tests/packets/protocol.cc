#include "tests/packets/protocol.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>

#include "penstock/lb/burst.h"

namespace penstock::packets {

void Die(const std::string& why) {
  std::cerr << "packet_driver: " << why << "\n";
  std::exit(2);
}

Bytes FromHex(const std::string& hex) {
  if (hex == "-") return {};
  if (hex.size() % 2 != 0) Die("an odd number of hexadecimal digits");
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const char* digits = hex.data() + i;
    uint8_t byte = 0;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      Die("no hexadecimal digit");
    bytes.push_back(byte);
  }
  return bytes;
}

std::string ToHex(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

uint8_t FlagsFrom(const std::string& names) {
  const std::map<std::string, uint8_t> known = {{"-", uint8_t{0}},
                                                {"multi_segment", lb::kMultiSegment},
                                                {"shared", lb::kSharedBuffer},
                                                {"checksum_verified", lb::kChecksumVerified}};
  uint8_t flags = 0;
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) {
    if (!known.contains(name)) Die("no flag is called " + name);
    flags = static_cast<uint8_t>(flags | known.at(name));
  }
  return flags;
}

}  // namespace penstock::packets
