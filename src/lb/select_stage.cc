#include "lb/flow_judge.h"
#include "lb/flow_rules.h"
#include "lb/packet_key.h"
#include "lb/peer_flows.h"
#include "lb/stages.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

// Chooses the backend of one packet and keeps the flow table's books.
template <typename Key>
class Selector {
 public:
  Selector(const ForwardContext& context, PacketBurst& burst, std::size_t i, const Key& key)
      : context_(context),
        flows_(context.flows.of<Key>()),
        burst_(burst),
        i_(i),
        key_(key),
        service_(*context.services.service(burst.service[i])),
        kind_(KindOf(burst.view[i], key.service.protocol())),
        passive_(IsIcmp(burst.view[i])) {}

  void Select() {
    if (service_.tracking == Tracking::kNone) return ChooseByTable(-1, {});
    int way = burst_.way[i_];
    // A packet before this one in the burst may have made this flow's entry, or taken its way.
    if (way < 0 || !flows_.Holds(burst_.hash[i_], way, key_)) {
      way = flows_.Find(burst_.hash[i_], key_);
    }
    FlowEntry entry;
    if (way >= 0) entry = flows_.Entry(burst_.hash[i_], way, context_.now);
    if (FollowPeer(way, entry)) return;
    if (way < 0) {
      CountMiss();
      return ChooseByTable(way, entry);
    }
    if (!Follows(entry)) {
      context_.flow_counters.Count(FlowEvent::kRepicked);
      return ChooseByTable(way, entry);
    }
    Follow(entry);
    if (passive_) return DropIfLooping(context_.services.backend(entry.backend));
    if (kind_ == PacketKind::kOdd) return;
    uint8_t state = StateAfter(kind_, burst_.view[i_].tcp_flags, entry);
    if (!IsFragment()) state &= static_cast<uint8_t>(~kFlowStray);  // a whole packet makes it ours
    flows_.Update(burst_.hash[i_], way, entry.backend, state, context_.now);
    if ((state & kFlowStray) != 0) NoteStray();
  }

 private:
  [[nodiscard]] bool IsFragment() const { return (burst_.flags[i_] & kFirstFragment) != 0; }
  [[nodiscard]] bool Follows(const FlowEntry& entry) const {
    return FollowsEntry(kind_, entry, context_.services.backend(entry.backend), service_);
  }

  // The packet goes where an entry says.
  void Follow(const FlowEntry& entry) {
    context_.flow_counters.Count(FlowEvent::kHit);
    // One that has lasted: two packets in a row from an invented source make an entry, too.
    if (entry.age > 0 || (entry.state & kFlowConfirmed) != 0) burst_.flags[i_] |= kKnownFlow;
    burst_.backend[i_] = entry.backend;
  }

  // Fragments and ICMP errors come to any worker, and a flow in mid-stream may have come to another
  // one before. New flows are not looked for elsewhere, unless fragments may have begun them there:
  // a flood of them must not make every worker read all tables.
  [[nodiscard]] bool AsksPeers(int way, const FlowEntry& own) const {
    if (context_.peers.empty() || IsEcho(key_)) return false;
    if (way >= 0) return IsFragment() && IsStray(own);
    const bool begins = kind_ == PacketKind::kSyn || kind_ == PacketKind::kUdp;
    return IsFragment() || passive_ || !begins || MayHoldStray(context_.peers, context_.now);
  }

  // Follows the entry that another worker has for the flow; false: there is none to follow.
  bool FollowPeer(int way, const FlowEntry& own) {
    if (!AsksPeers(way, own)) return false;
    const auto entry = FindAtPeers(context_.peers, burst_.hash[i_], key_, context_.now);
    if (!entry || (way >= 0 && IsStray(*entry)) || !Follows(*entry)) return false;
    Follow(*entry);
    context_.flow_counters.Count(FlowEvent::kPeerHit);
    const Backend& backend = context_.services.backend(entry->backend);
    DropIfLooping(backend);
    if (passive_ || burst_.verdict[i_] != Verdict::kForward) return true;
    const Slot& slot = context_.services.pool(service_.pool).table->Lookup(Bits());
    if (Records(kind_, service_.tracking, slot, way >= 0)) Record(way, own, entry->backend, slot);
    return true;
  }

  [[nodiscard]] uint32_t Bits() const {
    return SlotBits(key_, burst_.hash[i_], SlotHashOf(key_, service_), context_.services.key());
  }

  void CountMiss() {
    context_.flow_counters.Count(FlowEvent::kMiss);
    const bool mid_stream = kind_ == PacketKind::kData || kind_ == PacketKind::kReset;
    if (mid_stream) context_.flow_counters.Count(FlowEvent::kMissMidStream);
  }

  // No entry, or one that this packet does not follow.
  void ChooseByTable(int way, const FlowEntry& entry) {
    const Pool& pool = context_.services.pool(service_.pool);
    const Slot& slot = pool.table->Lookup(Bits());
    const MemberIndex owner = OwnerFor(kind_, slot, service_.tracking);
    if (owner == kNoMember) {
      burst_.verdict[i_] = Verdict::kDropNoBackend;
      return;
    }
    const BackendId id = pool.ids[owner];
    const Backend& backend = context_.services.backend(id);
    burst_.backend[i_] = id;
    DropIfLooping(backend);
    if (passive_ || burst_.verdict[i_] != Verdict::kForward) return;
    const bool records = Records(kind_, service_.tracking, slot, way >= 0);
    if (service_.new_flow_rate.IsSet() && StartsFlow(way, entry, records) && !MayStart()) {
      burst_.verdict[i_] = Verdict::kDropRateLimited;
      return;
    }
    const bool recorded = records && Record(way, entry, id, slot);
    // Every datagram of an untracked UDP flow comes this way: only those with an entry count.
    if (kind_ == PacketKind::kSyn || (kind_ == PacketKind::kUdp && recorded)) {
      CountersOf(backend).new_flows.Increment();
    }
  }

  // What rate_limit counts. A TCP packet in mid-stream is none, whatever this host has forgotten;
  // nor is a datagram that finds no room for an entry (nobody is refused for a full table), or one
  // whose backend was taken from it.
  [[nodiscard]] bool StartsFlow(int way, const FlowEntry& entry, bool records) const {
    if (kind_ == PacketKind::kSyn) return true;
    if (kind_ != PacketKind::kUdp || !records) return false;
    if (way >= 0) return entry.age > service_.udp_idle_timeout;
    const GenerationJudge<Key> judge(context_.services);
    return flows_.HasRoom(burst_.hash[i_], context_.now, /*must_record=*/false, judge);
  }
  [[nodiscard]] bool MayStart() {
    return context_.new_flows.Allow(service_.new_flow_rate, service_.new_flows[context_.worker],
                                    HashSource(key_, context_.services.key()), context_.now);
  }

  // RFC 2003 section 3.2: wrapping what comes from the tunnel's ends makes a loop.
  void DropIfLooping(const Backend& backend) {
    const net::IpAddress source = PacketSource(burst_, i_);
    if (context_.services.IsOwnAddress(source) || source == backend.address()) {
      burst_.verdict[i_] = Verdict::kDropLoop;
    }
  }

  // Makes or renews the flow's entry; false if there is no room for it.
  bool Record(int way, const FlowEntry& entry, BackendId id, const Slot& slot) {
    uint8_t state = FirstState(kind_, burst_.view[i_].tcp_flags);
    if (IsFragment() && !context_.peers.empty()) {
      state |= kFlowStray;
      NoteStray();
    }
    BackendId forgotten = entry.backend;
    if (way >= 0) {
      flows_.Update(burst_.hash[i_], way, id, state, context_.now);
    } else {
      // The ACK that follows would go to the slot's previous owner if this SYN left no trace.
      const bool must_record = kind_ == PacketKind::kSyn && slot.previous != kNoMember;
      const GenerationJudge<Key> judge(context_.services);
      const auto result =
          flows_.Insert(burst_.hash[i_], key_, id, state, context_.now, must_record, judge);
      context_.flow_counters.Count(result.event);
      if (result.risks_new_flow) context_.flow_counters.Count(FlowEvent::kNewFlowAtRisk);
      if (result.way < 0) return false;
      forgotten = result.evicted;
    }
    Forget(forgotten);
    CountersOf(context_.services.backend(id)).live_flows.Increment();
    return true;
  }

  void NoteStray() {
    const bool udp = kind_ == PacketKind::kUdp;
    const base::Tick idle = udp ? service_.udp_idle_timeout : service_.tcp_idle_timeout;
    context_.flows.NoteStray(context_.now + idle);
  }

  void Forget(BackendId id) {
    const Backend& backend = context_.services.backend(id);
    if (backend.counters != nullptr) CountersOf(backend).live_flows.Subtract(1);
  }

  BackendCounters& CountersOf(const Backend& backend) { return backend.counters[context_.worker]; }

  const ForwardContext& context_;
  FlowTableOf<Key>& flows_;
  PacketBurst& burst_;
  std::size_t i_;
  const Key& key_;
  const Service& service_;
  PacketKind kind_;
  bool passive_;  // leaves no trace in the flow table
};

}  // namespace

void SelectStage(const ForwardContext& context, PacketBurst& burst) {
  ForEachPending(burst, [&](std::size_t i) {
    WithKey(burst, i, [&](auto& key) { Selector(context, burst, i, key).Select(); });
  });
}

}  // namespace penstock::lb
