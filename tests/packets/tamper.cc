#include "tests/packets/tamper.h"

#include <array>
#include <span>

namespace penstock::packets {
namespace {

constexpr std::size_t kEthernet = 14;
constexpr std::size_t kTag = 4;

// A frame that is sent, taken apart by its own bytes.
struct Parts {
  explicit Parts(Bytes& frame) : bytes(frame) {
    tagged = bytes.size() > kEthernet && bytes[12] == 0x81 && bytes[13] == 0;
    ip = kEthernet + (tagged ? kTag : 0);
    v4 = bytes.size() > ip && bytes[ip] >> 4 == 4;
    l4 = ip + (v4 ? 20 : 40);
    protocol = bytes.size() > l4 ? bytes[ip + (v4 ? 9 : 6)] : uint8_t{0};
    tunnel = protocol == 4 || protocol == 41 || protocol == 47 || IsGue();
    inner = l4 + (protocol == 47 ? 4 : IsGue() ? 12 : 0);
  }
  [[nodiscard]] bool IsGue() const {
    return protocol == 17 && bytes.size() > l4 + 12 && bytes[l4 + 2] == 0x17 &&
           bytes[l4 + 3] == 0xC0;
  }

  Bytes& bytes;
  bool tagged;
  std::size_t ip;  // offset of the (outer) IP header
  bool v4;
  std::size_t l4;
  uint8_t protocol;
  bool tunnel;        // wrapped by IP-in-IP, GRE or GUE
  std::size_t inner;  // offset of the wrapped packet
};

void Flip(Bytes& bytes, std::size_t at, uint8_t bits = 1) {
  if (at < bytes.size()) bytes[at] = static_cast<uint8_t>(bytes[at] ^ bits);
}

// RFC 791: the header checksum of an IPv4 header without options.
void RepairChecksum(const Parts& p) {
  if (!p.v4 || p.bytes.size() < p.l4) return;
  p.bytes[p.ip + 10] = p.bytes[p.ip + 11] = 0;
  uint32_t sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) {
    sum += static_cast<uint32_t>(p.bytes[p.ip + i] << 8 | p.bytes[p.ip + i + 1]);
  }
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  p.bytes[p.ip + 10] = static_cast<uint8_t>(~sum >> 8);
  p.bytes[p.ip + 11] = static_cast<uint8_t>(~sum);
}

// Where the ICMP header of an answer of our own begins; 0: it is none.
std::size_t IcmpOf(const Parts& p) {
  return p.protocol == 1 || p.protocol == 58 ? p.l4 : 0;
}

// Padding of the received frame, sent on behind the packet.
void KeepPadding(const Parts& p) {
  p.bytes.insert(p.bytes.end(), 6, uint8_t{0xAA});
}

void ClearTos(const Parts& p) {
  if (p.v4) {
    p.bytes[p.ip + 1] = 0;
  } else {
    p.bytes[p.ip] = 0x60;
    p.bytes[p.ip + 1] &= 0x0F;
  }
}

void ClearFlowLabel(const Parts& p) {
  p.bytes[p.ip + 1] &= 0xF0;
  p.bytes[p.ip + 2] = p.bytes[p.ip + 3] = 0;
}

bool IsFragmentWithMore(const Parts& p) {
  return p.tunnel && p.bytes.size() > p.inner + 7 && p.bytes[p.inner] >> 4 == 4 &&
         (p.bytes[p.inner + 6] & 0x20) != 0;
}

// A rule: which frames it is about, how it is broken, and whether the checksum of the outer IPv4
// header is to be made right again.
struct Rule {
  std::string_view name;
  bool (*applies)(const Parts&);
  void (*spoil)(const Parts&);
  bool repair = true;
};

bool Wrapped(const Parts& p) {
  return p.tunnel;
}
bool Wrapped4(const Parts& p) {
  return p.tunnel && p.v4;
}
bool Wrapped6(const Parts& p) {
  return p.tunnel && !p.v4;
}
bool Gre(const Parts& p) {
  return p.tunnel && p.protocol == 47;
}
bool Gue(const Parts& p) {
  return p.IsGue();
}
bool Gue6(const Parts& p) {
  return p.IsGue() && !p.v4;
}
bool TooBig(const Parts& p) {
  const std::size_t icmp = IcmpOf(p);
  return icmp != 0 && p.bytes[icmp] == (p.v4 ? 3 : 2);
}
bool EchoReply(const Parts& p) {
  const std::size_t icmp = IcmpOf(p);
  return icmp != 0 && p.bytes[icmp] == (p.v4 ? 0 : 129);
}
bool Any(const Parts&) {
  return true;
}

constexpr std::array kRules = {
    Rule{"outer_ttl", Wrapped, [](const Parts& p) { Flip(p.bytes, p.ip + (p.v4 ? 8 : 7)); }},
    Rule{"outer_tos", Wrapped, ClearTos},
    Rule{"outer_df", Wrapped4, [](const Parts& p) { Flip(p.bytes, p.ip + 6, 0x40); }},
    Rule{"outer_id", Wrapped4, [](const Parts& p) { Flip(p.bytes, p.ip + 5); }},
    Rule{"outer_checksum", Wrapped4, [](const Parts& p) { Flip(p.bytes, p.ip + 11); }, false},
    Rule{"outer_source", Wrapped, [](const Parts& p) { Flip(p.bytes, p.ip + (p.v4 ? 15 : 23)); }},
    Rule{"backend", Wrapped, [](const Parts& p) { Flip(p.bytes, p.ip + (p.v4 ? 19 : 39)); }},
    Rule{"flow_label", Wrapped6, ClearFlowLabel},
    Rule{"gre_protocol", Gre, [](const Parts& p) { Flip(p.bytes, p.l4 + 3); }},
    Rule{"gue_source_port", Gue, [](const Parts& p) { Flip(p.bytes, p.l4 + 1); }},
    Rule{"gue_protocol", Gue, [](const Parts& p) { Flip(p.bytes, p.l4 + 9); }},
    Rule{"gue_checksum", Gue6, [](const Parts& p) { Flip(p.bytes, p.l4 + 7); }},
    Rule{"inner_ttl", Wrapped,
         [](const Parts& p) { Flip(p.bytes, p.inner + (p.bytes[p.inner] >> 4 == 4 ? 8 : 7)); }},
    Rule{"more_fragments", IsFragmentWithMore,
         [](const Parts& p) { Flip(p.bytes, p.inner + 6, 0x20); }},
    Rule{"padding", Wrapped, KeepPadding},
    Rule{"gateway_mac", Any, [](const Parts& p) { Flip(p.bytes, 5); }},
    Rule{"vlan", [](const Parts& p) { return p.tagged; },
         [](const Parts& p) { Flip(p.bytes, kEthernet + 1); }},
    Rule{"too_big_mtu", TooBig, [](const Parts& p) { Flip(p.bytes, IcmpOf(p) + 7); }},
    Rule{"icmp_checksum", [](const Parts& p) { return IcmpOf(p) != 0; },
         [](const Parts& p) { Flip(p.bytes, IcmpOf(p) + 3); }},
    Rule{"echo_payload", EchoReply, [](const Parts& p) { Flip(p.bytes, p.bytes.size() - 1); }},
};

}  // namespace

std::vector<std::string_view> TamperRules() {
  std::vector<std::string_view> names = {"martian_source", "deny"};
  for (const Rule& rule : kRules) names.push_back(rule.name);
  return names;
}

void Tamper(std::string_view rule, const Frame& received, Outcome& outcome) {
  (void)received;
  if (rule == "martian_source" && outcome.verdict == "drop_martian_source") {
    outcome.verdict = "drop_no_service";
  } else if (rule == "deny" && outcome.verdict == "drop_denied") {
    outcome.verdict = "drop_no_service";
  }
  for (const Rule& r : kRules) {
    if (r.name != rule) continue;
    for (Sent& sent : outcome.sent) {
      const Parts parts(sent.bytes);
      if (!r.applies(parts)) continue;
      r.spoil(parts);
      if (r.repair) RepairChecksum(Parts(sent.bytes));
    }
  }
}

}  // namespace penstock::packets
