// Random packets, changes and time through the pipeline, against a simple reference of the rules.

#include "tests/lb/flow_model.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/lb/fixture.h"
#include "tests/support/icmp.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;
using Kind = FlowModel::Kind;

// Where a service may be. Its identity is new each time it comes back.
struct Site {
  const char* vip;
  uint16_t port;
  uint8_t protocol;
};
constexpr std::array<Site, 8> kSites = {{{"203.0.113.10", 80, net::kProtocolTcp},
                                         {"203.0.113.10", 80, net::kProtocolUdp},
                                         {"203.0.113.10", 81, net::kProtocolTcp},
                                         {"203.0.113.11", 80, net::kProtocolTcp},
                                         {"203.0.113.11", 53, net::kProtocolUdp},
                                         {"2001:db8:53::10", 80, net::kProtocolTcp},
                                         {"2001:db8:53::10", 80, net::kProtocolUdp},
                                         {"2001:db8:53::11", 80, net::kProtocolTcp}}};

struct Running {
  ServiceId id = 0;
  uint32_t pool = 0;
  SlotHash hash = SlotHash::kFiveTuple;
  FlowModel::ServiceState state;
};

// Two pools that share addresses, and services at some of the sites.
class FlowModelTest : public World, public ::testing::WithParamInterface<uint32_t> {
 protected:
  using MemberIds = std::map<net::IpAddress, BackendId>;

  FlowModelTest() : random_(GetParam()) {
    flows_ = FlowTable::Create({.v4_entries = 1 << 17, .v6_entries = 1 << 17},
                               FlowTable::AllocateFromHeap);
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      for (int n = 1; n <= 5; ++n) AddMember(i, n);
    }
    for (std::size_t i = 0; i < kSites.size(); ++i) AddService(i);
    Publish();
  }
  [[nodiscard]] uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  // --- Configuration.

  void AddMember(std::size_t pool, int n) {
    const auto address = testing::Ip("10.3." + std::to_string(n) + ".2");
    if (!member_ids_[pool].emplace(address, last_backend_ + 1).second) return;
    ++last_backend_;
    pools_[pool].push_back({.address = address});
  }
  void AddService(std::size_t site) {
    Running& service = services_at_[site].emplace();
    service.id = ++last_service_;
    service.state.udp = kSites[site].protocol == net::kProtocolUdp;
    ChangeService(service);
  }
  void ChangeService(Running& service) {
    service.pool = Below(2);
    service.hash = static_cast<SlotHash>(Below(3));
    service.state.tracking = static_cast<Tracking>(std::max(0, static_cast<int>(Below(5)) - 2));
    service.state.tcp_idle = Below(2) == 0 ? 900 : 200;
    service.state.udp_idle = Below(2) == 0 ? 30 : 4;
    service.state.rate = {};
    if (Below(2) == 0) service.state.rate = {.per_source = Below(3), .total = Below(6)};
  }
  void ChangeMember(PoolMember& member) {
    switch (Below(3)) {
      case 0:
        member.state = static_cast<AdminState>(Below(3));
        break;
      case 1:
        member.healthy = Below(3) != 0;
        break;
      default:
        member.weight = std::array<uint32_t, 3>{0, 1, 100}[Below(3)];
    }
  }
  void ChangeSomething() {
    const std::size_t pool = Below(2);
    std::vector<PoolMember>& members = pools_[pool];
    auto& service = services_at_[Below(kSites.size())];
    switch (Below(8)) {
      case 0:
        if (members.size() > 1) {
          const std::size_t gone = Below(static_cast<uint32_t>(members.size()));
          member_ids_[pool].erase(members[gone].address);
          members.erase(members.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        break;
      case 1:
        AddMember(pool, static_cast<int>(Below(7)) + 1);
        break;
      case 2:
        service.reset();
        break;
      case 3:
        if (service) {
          ChangeService(*service);
          break;
        }
        AddService(static_cast<std::size_t>(&service - services_at_.data()));
        break;
      default:
        ChangeMember(members[Below(static_cast<uint32_t>(members.size()))]);
    }
    Publish();
  }
  // Hands the configuration to both sides.
  void Publish() {
    model_.backends.clear();
    model_.services.clear();
    ServiceTableSpec spec;
    spec.key = web_.key;
    spec.ports = {{.addresses = {*net::IpPrefix::Parse("10.2.1.2/24")}, .reaches_v4 = true}};
    for (std::size_t i = 0; i < pools_.size(); ++i) spec.pools.push_back(PoolSpecOf(i));
    for (std::size_t i = 0; i < kSites.size(); ++i) {
      if (!services_at_[i]) continue;
      spec.services.push_back(ServiceSpecOf(kSites[i], *services_at_[i]));
      model_.services[services_at_[i]->id] = services_at_[i]->state;
    }
    services_ = std::make_unique<ServiceTable>(std::move(spec));
  }
  ServiceTableSpec::PoolSpec PoolSpecOf(std::size_t pool) {
    ServiceTableSpec::PoolSpec spec;
    spec.table = PoolTable::Build({.members = pools_[pool], .table_size = 251, .key = web_.key});
    for (const PoolMember& m : spec.table->members()) {
      const BackendId id = member_ids_[pool].at(m.address);
      spec.ids.push_back(id);
      spec.counters.push_back(counters_[id].data());
      spec.paths.push_back(&paths_[id]);
      model_.backends[id] = m;
    }
    return spec;
  }
  ServiceTableSpec::ServiceSpec ServiceSpecOf(const Site& site, const Running& running) {
    ServiceTableSpec::ServiceSpec spec;
    spec.vip = {.prefix = *net::IpPrefix::Parse(site.vip),
                .protocol = site.protocol,
                .ports = {{site.port, site.port}}};
    spec.service = {.id = running.id,
                    .pool = running.pool,
                    .hash = running.hash,
                    .tcp_idle_timeout = static_cast<uint16_t>(running.state.tcp_idle),
                    .udp_idle_timeout = static_cast<uint16_t>(running.state.udp_idle),
                    .tracking = running.state.tracking,
                    .new_flow_rate = running.state.rate,
                    .new_flows = &windows_[running.id]};
    return spec;
  }

  // --- Packets.

  struct Packet {
    Kind kind = Kind::kSyn;
    std::size_t site = 0;
    PacketSpec spec;
    testing::Bytes frame;
  };
  Packet RandomPacket() {
    Packet packet;
    packet.site = Below(kSites.size());
    const Site& site = kSites[packet.site];
    PacketSpec& spec = packet.spec;
    const std::string host = std::to_string(1 + Below(3));
    spec.destination = site.vip;
    spec.source =
        testing::Ip(site.vip).IsV4() ? "192.0.2." + host : "2001:db8:7:" + host + "::" + host;
    spec.destination_port = site.port;
    spec.source_port = static_cast<uint16_t>(1000 + Below(40));
    spec.protocol = site.protocol;
    static constexpr std::array<std::pair<Kind, uint8_t>, 11> kTcp = {{{Kind::kSyn, 0x02},
                                                                       {Kind::kSyn, 0x02},
                                                                       {Kind::kSyn, 0xC2},
                                                                       {Kind::kMidStream, 0x10},
                                                                       {Kind::kMidStream, 0x18},
                                                                       {Kind::kMidStream, 0x10},
                                                                       {Kind::kMidStream, 0x11},
                                                                       {Kind::kReset, 0x14},
                                                                       {Kind::kOdd, 0x12},
                                                                       {Kind::kOdd, 0x03},
                                                                       {Kind::kOdd, 0x00}}};
    const auto& [kind, flags] = kTcp[Below(kTcp.size())];
    packet.kind = site.protocol == net::kProtocolUdp ? Kind::kUdp : kind;
    spec.tcp_flags = flags;
    if (Below(8) != 0) {
      packet.frame = testing::Frame(spec);
      return packet;
    }
    packet.kind = Kind::kIcmpError;
    testing::IcmpSpec error = {.destination = site.vip, .body = testing::AnswerOf(spec)};
    if (!testing::Ip(site.vip).IsV4()) {
      error.source = "2001:db8:99::1";
      error.type = net::kIcmpv6PacketTooBig;
      error.code = 0;
    }
    packet.frame = testing::IcmpFrame(error);
    return packet;
  }
  template <typename Key>
  FlowModel::Owners OwnersOf(Key key, const Running& service, uint8_t protocol) const {
    key.service = ServiceAndProtocol::Of(service.id, protocol);
    const Pool& pool = services_->pool(service.pool);
    const FlowHash hash = HashFlow(key, services_->key());
    const Slot& slot = pool.table->Lookup(SlotBits(key, hash, service.hash, services_->key()));
    const auto id = [&](MemberIndex m) { return m == kNoMember ? 0 : pool.ids[m]; };
    return {id(slot.current), id(slot.previous)};
  }
  FlowModel::Owners OwnersOf(const PacketSpec& spec, const Running& service) const {
    const base::be16_t from(spec.source_port);
    const base::be16_t to(spec.destination_port);
    const net::IpAddress source = testing::Ip(spec.source);
    const net::IpAddress vip = testing::Ip(spec.destination);
    if (vip.IsV4()) {
      return OwnersOf(FlowKey4{source.v4().raw(), vip.v4().raw(), from, to, {}}, service,
                      spec.protocol);
    }
    return OwnersOf(FlowKey6{source.bytes, vip.bytes, from, to, {}}, service, spec.protocol);
  }

  // Several packets in one burst; the model takes them one by one.
  void SendSome() {
    std::vector<Packet> packets;
    std::vector<testing::Bytes> frames;
    for (uint32_t i = 0; i <= Below(8); ++i) {
      packets.push_back(RandomPacket());
      frames.push_back(packets.back().frame);
    }
    const std::vector<Outcome> outcomes = SendBurst(frames);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      Compare(packets[i], outcomes[i]);
      if (HasFatalFailure()) return;
    }
  }
  void Compare(const Packet& packet, const Outcome& outcome) {
    const auto& service = services_at_[packet.site];
    if (!service) {
      ASSERT_NE(outcome.verdict, Verdict::kForward);
      return;
    }
    const FlowModel::Flow flow = {service->id, packet.spec.source, packet.spec.source_port};
    const auto expected = model_.Send(packet.kind, flow, OwnersOf(packet.spec, *service), now_);
    ASSERT_EQ(InfoOf(outcome.verdict).name, InfoOf(expected.verdict).name);
    ++seen_[static_cast<std::size_t>(expected.verdict)];
    if (expected.verdict != Verdict::kForward) return;
    ASSERT_EQ(OuterDestination(outcome), model_.backends.at(expected.backend).address);
  }

  // --- Both sides' books.

  void SweepBoth() {
    SweepFlows(Context(), flows_->v4().bucket_count());
    model_.Sweep(now_);
  }
  void CompareBooks() {
    ASSERT_EQ(flows_->v4().size() + flows_->v6().size(), model_.size());
    auto live = model_.LiveFlows();
    for (const auto& [id, backend] : model_.backends) {
      ASSERT_EQ(counters_[id][0].live_flows.Read(), live[id]) << "backend " << id;
    }
  }

  std::mt19937_64 random_;
  FlowModel model_;
  std::array<std::vector<PoolMember>, 2> pools_;
  std::array<MemberIds, 2> member_ids_;
  std::array<std::optional<Running>, kSites.size()> services_at_;
  std::map<ServiceId, NewFlowWindow> windows_;
  std::array<uint64_t, kVerdictCount> seen_{};
  BackendId last_backend_ = 0;
  ServiceId last_service_ = 0;
};

TEST_P(FlowModelTest, AgreesWithTheReference) {
  for (int step = 0; step < 12000; ++step) {
    const uint32_t what = Below(100);
    if (what < 5) {
      ChangeSomething();
    } else if (what < 17) {
      now_ += std::array<base::Tick, 6>{1, 1, 2, 5, 30, 131}[Below(what < 8 ? 6 : 4)];
    } else if (what < 22) {
      SweepBoth();
    } else {
      SendSome();
    }
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    CompareBooks();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
  // Expect: nothing was evicted, and the run has seen what it is about.
  EXPECT_EQ(Events(FlowEvent::kUntracked), 0U);
  for (const FlowEvent e : {FlowEvent::kEvictedExpired, FlowEvent::kEvictedRedundant,
                            FlowEvent::kEvictedSynOnly, FlowEvent::kEvictedOldest}) {
    EXPECT_EQ(Events(e), 0U);
  }
  for (const FlowEvent e : {FlowEvent::kHit, FlowEvent::kRepicked, FlowEvent::kExpired}) {
    EXPECT_GT(Events(e), 100U);
  }
  for (const Verdict v : {Verdict::kForward, Verdict::kDropRateLimited}) {
    EXPECT_GT(seen_[static_cast<std::size_t>(v)], 50U) << InfoOf(v).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlowModelTest, ::testing::Range(1U, 7U));

}  // namespace
}  // namespace penstock::lb
