#include <algorithm>

#include "lb/icmp_answers.h"
#include "lb/martian.h"
#include "lb/packet_key.h"
#include "lb/stages.h"
#include "penstock/lb/pipeline.h"
#include "penstock/net/quote.h"

namespace penstock::lb {
namespace {

bool IsError(net::Family family, uint8_t type) {
  if (family == net::Family::kIpv4) {
    return type == net::kIcmpUnreachable || type == net::kIcmpTimeExceeded ||
           type == net::kIcmpParameterProblem;
  }
  return type >= net::kIcmpv6Unreachable && type <= net::kIcmpv6ParameterProblem;
}

bool IsTooBig(net::Family family, const net::IcmpHeader& icmp) {
  if (family == net::Family::kIpv4) {
    return icmp.type == net::kIcmpUnreachable && icmp.code == net::kIcmpFragmentationNeeded;
  }
  return icmp.type == net::kIcmpv6PacketTooBig && icmp.code == 0;
}

bool IsEchoRequest(net::Family family, const net::IcmpHeader& icmp) {
  const bool v4 = family == net::Family::kIpv4;
  return icmp.type == (v4 ? net::kIcmpEchoRequest : net::kIcmpv6EchoRequest) && icmp.code == 0;
}

// The MTU of an error that IsTooBig. RFC 1191 section 4: IPv4 has 16 bits of it.
uint32_t MtuOf(net::Family family, const net::IcmpHeader& icmp) {
  return family == net::Family::kIpv4 ? icmp.rest.value() & 0xFFFF : icmp.rest.value();
}

// What we send to backends: IP-in-IP, GRE, GUE.
bool IsTunnel(const net::Quote& quote) {
  if (quote.protocol == net::kProtocolUdp) return quote.destination_port.value() == net::kGuePort;
  return net::IsTunnelProtocol(quote.protocol);
}

void SetKey(const net::Quote& quote, FlowKey& key) {
  const auto service = ServiceAndProtocol::Of(kNoId, quote.protocol);
  // What was sent to the client comes, reversed, from the client.
  if (quote.source.IsV4()) {
    key.v4 = {.source = quote.destination.v4().raw(),
              .destination = quote.source.v4().raw(),
              .source_port = quote.destination_port,
              .destination_port = quote.source_port,
              .service = service};
  } else {
    key.v6 = {.source = quote.destination.bytes,
              .destination = quote.source.bytes,
              .source_port = quote.destination_port,
              .destination_port = quote.source_port,
              .service = service};
  }
}

// One ICMP message that is no neighbor discovery.
class IcmpMessage {
 public:
  IcmpMessage(const ForwardContext& context, PacketBurst& burst, std::size_t i)
      : context_(context), burst_(burst), i_(i), view_(burst.view[i]), family_(view_.family) {}

  Verdict Handle() {
    FillKey(burst_.data[i_] + view_.l3_offset, view_, burst_.key[i_]);
    return WithKey(burst_, i_, [&](auto& key) { return HandleFor(key); });
  }

 private:
  template <typename Key>
  Verdict HandleFor(const Key& key) {
    const Vip* vip = context_.services.FindVip(key);
    if (vip == nullptr) {
      if (!context_.services.IsOwnAddress(DestinationOf(key))) return Verdict::kDropNotVip;
      return HasMartianSource(key) ? Verdict::kDropMartianSource : ForOurselves();
    }
    if (HasMartianSource(key)) return Verdict::kDropMartianSource;
    if (!ReadHeader()) return Verdict::kDropIcmpMalformed;
    if (IsError(family_, icmp_.type)) return FollowQuote(DestinationOf(key));
    if (IsEchoRequest(family_, icmp_)) return Echo(*vip);
    return Verdict::kDropIcmpType;
  }

  [[nodiscard]] std::span<const uint8_t> Message() const { return IcmpMessageOf(burst_, i_); }
  bool ReadHeader() {
    if (Message().size() < sizeof(icmp_)) return false;
    icmp_ = net::Load<net::IcmpHeader>(Message().data());
    return true;
  }
  net::QuoteStatus ReadQuote(net::Quote& quote) {
    return net::ParseQuote(family_, Message().subspan(sizeof(icmp_)), quote);
  }

  // RFC 7690: an error goes where the flow goes that it is about. The stages that follow look the
  // flow up like any other.
  Verdict FollowQuote(const net::IpAddress& vip) {
    net::Quote quote;
    const net::QuoteStatus status = ReadQuote(quote);
    if (status == net::QuoteStatus::kMalformed) return Verdict::kDropIcmpMalformed;
    if (status == net::QuoteStatus::kNoFlow || quote.source != vip) {
      return Verdict::kDropIcmpNoService;
    }
    SetKey(quote, burst_.key[i_]);
    return Verdict::kForward;
  }

  Verdict Echo(const Vip& vip) {
    if (vip.echo == IcmpEcho::kDrop) return Verdict::kDropEchoPolicy;
    if (vip.echo == IcmpEcho::kReply) return Reply();
    burst_.service[i_] = context_.services.EchoService(vip).id;
    return Verdict::kForward;
  }

  Verdict Reply() {
    // RFC 1122 section 3.2.2: a message with a wrong checksum is discarded.
    if (!IcmpChecksumHolds(burst_, i_)) return Verdict::kDropIcmpMalformed;
    const Verdict may = MayAnswer(context_, burst_, i_, Verdict::kDropEchoLimited);
    if (may != Verdict::kForward) return may;
    return AnswerEcho(context_, burst_, i_);
  }

  Verdict ForOurselves() {
    if (!ReadHeader()) return Verdict::kDropIcmpMalformed;
    if (IsEchoRequest(family_, icmp_)) return Reply();
    return IsTooBig(family_, icmp_) ? LearnPathMtu() : Verdict::kDropIcmpType;
  }

  // RFC 2003 section 5.1 and RFC 2473 section 8: the tunnel's entry keeps the path's MTU. Anybody
  // can send such an error; it must quote what only we send, and can do no more than lower an MTU
  // to the least that every network has.
  Verdict LearnPathMtu() {
    net::Quote quote;
    if (!IcmpChecksumHolds(burst_, i_)) return Verdict::kDropIcmpMalformed;
    if (ReadQuote(quote) == net::QuoteStatus::kMalformed) return Verdict::kDropIcmpMalformed;
    const uint32_t mtu = MtuOf(family_, icmp_);
    if (mtu == 0 || !IsTunnel(quote) || !context_.services.IsOwnAddress(quote.source)) {
      return Verdict::kDropIcmpNoService;
    }
    const auto limit = static_cast<uint16_t>(std::min<uint32_t>(mtu, UINT16_MAX));
    bool known = false;
    context_.services.ForEachBackendAt(quote.destination, [&](const Backend& backend) {
      known = true;
      backend.path->mtu.Lower(limit, context_.now);
    });
    return known ? Verdict::kLearnPathMtu : Verdict::kDropIcmpNoService;
  }

  const ForwardContext& context_;
  PacketBurst& burst_;
  const std::size_t i_;
  const net::PacketView& view_;
  const net::Family family_;
  net::IcmpHeader icmp_;
};

}  // namespace

void IcmpStage(const ForwardContext& context, PacketBurst& burst) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    // ParseStage has marked ICMP so; LocalStage has answered neighbor discovery.
    if (burst.verdict[i] != Verdict::kAnswerEcho) continue;
    burst.verdict[i] = IcmpMessage(context, burst, i).Handle();
  }
}

}  // namespace penstock::lb
