#include "tests/packets/hashes.h"

#include <cstdio>

#include "penstock/lb/flow_key.h"

namespace penstock::packets {
namespace {

template <typename Key>
lb::FlowHash HashOfKey(Key key, uint16_t source_port, uint16_t destination_port, uint8_t protocol,
                       const lb::HashKey& secret) {
  key.source_port = base::be16_t(source_port);
  key.destination_port = base::be16_t(destination_port);
  key.service = lb::ServiceAndProtocol::Of(lb::kNoId, protocol);
  return lb::HashFlow(key, secret);
}

std::string ColumnOf(const World& world, std::istream& words, lb::MemberIndex lb::Slot::*column) {
  uint32_t slots = 0;
  words >> slots;
  const lb::PoolTable& table = *world.services().pool(0).table;
  std::string owners;
  for (uint32_t slot = 0; slot < slots && slot < table.table_size(); ++slot) {
    const lb::MemberIndex member = table.slot(slot).*column;
    owners += member == lb::kNoMember ? " -" : " " + table.members()[member].address.ToString();
  }
  return owners;
}

}  // namespace

std::string HashOf(const World& world, std::istream& words) {
  unsigned protocol = 0;
  std::string source_text;
  std::string destination_text;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  words >> protocol >> source_text >> source_port >> destination_text >> destination_port;
  const auto source = net::IpAddress::Parse(source_text);
  const auto destination = net::IpAddress::Parse(destination_text);
  if (!source || !destination) return "error not an address";
  const auto number = static_cast<uint8_t>(protocol);
  const lb::HashKey& secret = world.services().key();
  lb::FlowHash hash;
  if (source->IsV4()) {
    const lb::FlowKey4 key{.source = source->v4().raw(), .destination = destination->v4().raw()};
    hash = HashOfKey(key, source_port, destination_port, number, secret);
  } else {
    const lb::FlowKey6 key{.source = source->bytes, .destination = destination->bytes};
    hash = HashOfKey(key, source_port, destination_port, number, secret);
  }
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash.bits));
  return digits;
}

std::string OwnersOf(const World& world, std::istream& words) {
  return ColumnOf(world, words, &lb::Slot::current);
}

std::string PreviousOwnersOf(const World& world, std::istream& words) {
  return ColumnOf(world, words, &lb::Slot::previous);
}

}  // namespace penstock::packets
