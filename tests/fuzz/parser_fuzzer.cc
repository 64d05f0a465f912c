// Any bytes as a frame: the parser reads nothing outside them, and what it accepts lies inside.

#include <cstdint>
#include <cstdlib>

#include "penstock/net/parser.h"

using penstock::net::PacketView;
using penstock::net::ParseFrame;
using penstock::net::ParseStatus;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size > UINT16_MAX) return 0;
  for (const bool verified : {false, true}) {
    PacketView view;
    if (ParseFrame({data, size}, verified, view) != ParseStatus::kOk) continue;
    const std::size_t end = std::size_t{view.l3_offset} + view.ip_length;
    if (end > size || view.l4_offset + std::size_t{8} > end) std::abort();
  }
  return 0;
}
