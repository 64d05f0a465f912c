#include <algorithm>
#include <optional>

#include "lb/icmp_answers.h"
#include "lb/link.h"
#include "lb/outer_headers.h"
#include "lb/split_packet.h"
#include "lb/stages.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

// An inner packet of this size passes whatever the fabric says: every IPv6 network takes it (RFC
// 8200 section 5), and no smaller MTU is believed.
constexpr std::size_t kAlwaysFits = 1280;

static_assert(kMaxFront >= net::kVlanTagSize + Overhead(Encapsulation::kGue, net::Family::kIpv6));

// One packet on its way to its backend.
class Wrapping {
 public:
  Wrapping(const ForwardContext& context, PacketBurst& burst, std::size_t i)
      : context_(context),
        burst_(burst),
        i_(i),
        view_(burst.view[i]),
        service_(*context.services.service(burst.service[i])),
        backend_(context.services.backend(burst.backend[i])),
        l2_(service_.encapsulation == Encapsulation::kL2),
        port_(l2_ ? backend_.l2_port : backend_.egress_port),
        overhead_(Overhead(service_.encapsulation, backend_.family)) {}

  Verdict Wrap() {
    const std::size_t room = Room();
    const std::size_t size = view_.ip_length;
    const Verdict verdict = size <= room ? SendWhole() : SendTooBig(room);
    if (verdict == Verdict::kForward) {
      BackendCounters& counters = backend_.counters[context_.worker];
      counters.packets.Increment();
      counters.bytes.Add(size);
    }
    return verdict;
  }

 private:
  uint8_t* l3() { return burst_.data[i_] + view_.l3_offset; }

  // The largest inner packet that reaches the backend whole.
  [[nodiscard]] std::size_t Room() const {
    if (l2_) return backend_.l2_mtu;
    if (view_.ip_length <= kAlwaysFits) return static_cast<std::size_t>(backend_.mtu) - overhead_;
    const std::size_t learned = backend_.path->mtu.Limit(backend_.mtu, context_.now);
    return std::min<std::size_t>(backend_.mtu, std::max(learned, kAlwaysFits + overhead_)) -
           overhead_;
  }

  [[nodiscard]] std::optional<net::MacAddress> NextHop() const {
    return l2_ ? backend_.path->neighbor.mac() : context_.neighbors.NextHop(port_, backend_.family);
  }
  [[nodiscard]] std::size_t Front() const {
    return overhead_ + LinkSize(context_.neighbors.vlan(port_));
  }
  [[nodiscard]] uint16_t EtherType() const {
    const net::Family family = l2_ ? view_.family : backend_.family;
    return family == net::Family::kIpv4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6;
  }
  [[nodiscard]] Inner InnerAt(uint8_t* packet, std::size_t size) const {
    return {{packet, size}, view_.family, view_.traffic_class, burst_.hash[i_]};
  }

  Verdict SendWhole() {
    if (RoomBefore(burst_, i_, l3()) < Front()) return Verdict::kDropNoHeadroom;
    const auto next_hop = NextHop();
    if (!next_hop) return Verdict::kDropNoNeighbor;
    Send(*next_hop);
    return Verdict::kForward;
  }

  void Send(const net::MacAddress& next_hop) {
    if (!l2_) WriteOuter(service_, backend_, InnerAt(l3(), view_.ip_length));
    SendFrom(burst_, i_, l3() - overhead_, overhead_ + view_.ip_length, context_.neighbors, port_,
             next_hop, EtherType());
  }

  // docs/PACKETS.md section 7.
  Verdict SendTooBig(std::size_t room) {
    const bool icmp = IsIcmp(view_);
    if (view_.family == net::Family::kIpv4) {
      const auto ip = net::Load<net::Ipv4Header>(l3());
      if ((ip.fragment.value() & net::kIpv4DontFragment) == 0) return SendSplit(room);
    }
    // RFC 1812 section 4.3.2.7: of a datagram's fragments only the first is answered.
    if (view_.fragment == net::FragmentKind::kLater) return Verdict::kDropTooBig;
    // The same section, and RFC 4443 section 2.4 e: errors are not answered with errors.
    const bool error = icmp && !WithKey(burst_, i_, [](auto& key) { return IsEcho(key); });
    if (error) return Verdict::kDropTooBig;
    const Verdict may = MayAnswer(context_, burst_, i_, Verdict::kDropTooBigLimited);
    if (may != Verdict::kForward) return may;
    return AnswerTooBig(context_, burst_, i_, room);
  }

  Verdict SendSplit(std::size_t room) {
    if (RoomBefore(burst_, i_, l3()) < Front()) return Verdict::kDropNoHeadroom;
    const auto next_hop = NextHop();
    if (!next_hop) return Verdict::kDropNoNeighbor;
    SplitPacket split({l3(), view_.ip_length}, room);
    if (!context_.extra.Reserve(split.count() - 1, Front() + room)) return Verdict::kDropNoBuffer;
    for (std::size_t n = 1; n < split.count(); ++n) AddFragment(split, n, *next_hop);
    split.CutFirst();
    view_.ip_length = static_cast<uint16_t>(split.SizeOf(0));
    Send(*next_hop);
    return Verdict::kForward;
  }

  void AddFragment(const SplitPacket& split, std::size_t n, const net::MacAddress& next_hop) {
    const std::size_t size = split.SizeOf(n);
    uint8_t* frame = context_.extra.Add(port_, Front() + size);
    split.Write(n, frame + Front());
    WriteLink(frame, next_hop, context_.neighbors.mac(port_), context_.neighbors.vlan(port_),
              EtherType());
    if (!l2_) WriteOuter(service_, backend_, InnerAt(frame + Front(), size));
  }

  const ForwardContext& context_;
  PacketBurst& burst_;
  const std::size_t i_;
  net::PacketView& view_;
  const Service& service_;
  const Backend& backend_;
  const bool l2_;
  const uint8_t port_;
  const std::size_t overhead_;
};

}  // namespace

void EncapStage(const ForwardContext& context, PacketBurst& burst) {
  ForEachPending(burst,
                 [&](std::size_t i) { burst.verdict[i] = Wrapping(context, burst, i).Wrap(); });
}

}  // namespace penstock::lb
