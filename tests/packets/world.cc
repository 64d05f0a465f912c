#include "tests/packets/world.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "penstock/config/load.h"
#include "penstock/lb/held_packets.h"
#include "penstock/lb/neighbors.h"
#include "tests/packets/protocol.h"
#include "tests/support/heap_frames.h"

namespace penstock::packets {
namespace {

// Bytes of packet in one of DPDK's buffers, RTE_MBUF_DEFAULT_DATAROOM.
constexpr std::size_t kBufferRoom = 2048;
constexpr std::size_t kLeastTailroom = 64;
constexpr std::chrono::seconds kStart{1000};

std::vector<lb::PortIdentity> IdentitiesOf(const config::HostConfig& host) {
  std::vector<lb::PortIdentity> ports;
  for (const config::PortConfig& port : host.dataplane.ports) {
    const auto index = static_cast<uint8_t>(ports.size());
    ports.push_back({.mac = net::MacAddress{{2, 'p', 'c', 'a', 'p', index}},
                     .addresses = port.addresses,
                     .gateways = port.gateways,
                     .gateway_mac = port.gateway_mac,
                     .vlan = port.vlan});
  }
  return ports;
}

const std::string_view kHeld = lb::InfoOf(lb::Verdict::kHold).name;

std::string Lines(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "; ") + line;
  return all;
}

}  // namespace

struct World::Tables {
  explicit Tables(const config::HostConfig& host)
      : flows(lb::FlowTable::Create({.v4_entries = host.dataplane.flow_table.v4_entries_per_worker,
                                     .v6_entries = host.dataplane.flow_table.v6_entries_per_worker},
                                    lb::FlowTable::AllocateFromHeap)),
        neighbors(IdentitiesOf(host)),
        icmp(host.dataplane.icmp_rate) {}

  lb::ForwardContext Context(const lb::ServiceTable& services, std::chrono::milliseconds now) {
    return {.services = services,
            .flows = *flows,
            .neighbors = neighbors,
            .flow_counters = counters,
            .icmp = icmp,
            .new_flows = new_flows,
            .extra = extra,
            .fragments = *fragments,
            .worker = 0,
            .now = base::ToTick(now)};
  }

  std::unique_ptr<lb::FlowTable> flows;
  lb::Neighbors neighbors;
  lb::FlowCounters counters;
  lb::IcmpLimiter icmp;
  lb::NewFlowLimiter new_flows{1};
  testing::HeapFrames extra;
  std::unique_ptr<lb::FragmentTable> fragments =
      std::make_unique<lb::FragmentTable>(lb::HashKey::FromSeed("fragments"));
  // A frame that is held, with its number.
  struct Waiting {
    std::size_t number;
    Frame frame;
  };
  using Held = lb::HeldPackets<std::shared_ptr<const Waiting>>;
  Held held;
};

World::World(config::HostConfig host)
    : host_(std::move(host)),
      controller_(
          publisher_, reader_, host_, {.clock = [this] {
            return std::chrono::sys_seconds(std::chrono::floor<std::chrono::seconds>(wall_clock_));
          }}) {
  Reset();
}

void World::AdvanceClock(std::chrono::milliseconds time) {
  now_ += time;
  wall_clock_ += time;
  if (!controller_.Tick().ok()) std::abort();  // nothing here can be silent or fail
  services_ = publisher_.current();
}

std::string World::Apply(const std::string& services_file) {
  const auto loaded = config::LoadServicesConfig(services_file);
  if (!loaded.ok()) return Lines(loaded.errors);
  const control::ChangeResult result = controller_.Apply(loaded.value);
  if (!result.status.ok()) {
    return std::string(result.status.message()) + "; " +
           Lines(loaded.source.Format(result.violations));
  }
  services_ = publisher_.current();
  return {};
}

void World::Reset() {
  tables_ = std::make_shared<Tables>(host_);
  now_ = kStart;
  frames_ = 0;
}

void World::LimitBuffers(std::size_t frames) {
  tables_->extra.limit = frames;
}

std::vector<Outcome> World::Run(const std::vector<Frame>& frames) {
  std::vector<Outcome> outcomes = Forward(frames);
  for (std::size_t i = 0; i < frames.size(); ++i, ++frames_) {
    if (outcomes[i].verdict != kHeld) continue;
    const auto waiting =
        std::make_shared<const Tables::Waiting>(Tables::Waiting{frames_, frames[i]});
    if (!tables_->held.Push({waiting, frames[i].port, now_})) {
      outcomes[i].verdict = lb::InfoOf(lb::Verdict::kDropFragmentOverflow).name;
    }
  }
  return outcomes;
}

std::vector<Released> World::RetryHeld() {
  std::vector<Released> released;
  Tables::Held::Taken taken;
  for (std::size_t left = tables_->held.size(); left > 0; --left) {
    // One at a time: see Run about fragments.
    if (tables_->held.Take(1, taken) != 1) Die("a held packet is lost");
    const Tables::Waiting& waiting = *taken[0].buffer;
    Frame frame = waiting.frame;
    if (taken[0].IsTired(now_)) frame.flags = static_cast<uint8_t>(frame.flags | lb::kLastTry);
    Outcome outcome = Forward({frame}).front();
    if (outcome.verdict != kHeld) {
      released.push_back({waiting.number, waiting.frame, std::move(outcome)});
    } else if (!tables_->held.Push(taken[0])) {
      Die("no room for a packet that was held just now");
    }
  }
  return released;
}

std::vector<Outcome> World::Forward(const std::vector<Frame>& frames) {
  lb::PacketBurst burst;
  burst.count = static_cast<int>(frames.size());
  burst.port = frames.front().port;
  std::vector<Bytes> buffers;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    const std::size_t tailroom =
        std::max(kLeastTailroom, kBufferRoom - std::min(kBufferRoom, frame.bytes.size()));
    Bytes& buffer = buffers.emplace_back(frame.headroom, uint8_t{0xEE});
    buffer.insert(buffer.end(), frame.bytes.begin(), frame.bytes.end());
    buffer.resize(buffer.size() + tailroom, uint8_t{0xEE});
    burst.data[i] = buffer.data() + frame.headroom;
    burst.length[i] = static_cast<uint16_t>(frame.bytes.size());
    burst.headroom[i] = frame.headroom;
    burst.tailroom[i] = static_cast<uint16_t>(tailroom);
    burst.flags[i] = frame.flags;
  }
  lb::ForwardBurst(tables_->Context(*services_, now_), burst);
  std::vector<Outcome> outcomes(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    outcomes[i].verdict = lb::InfoOf(burst.verdict[i]).name;
    const Bytes bytes(burst.data[i], burst.data[i] + burst.length[i]);
    if (burst.verdict[i] == lb::Verdict::kHold && bytes != frames[i].bytes) {
      Die("a packet to hold was changed");
    }
    if (!lb::IsSent(burst.verdict[i])) continue;
    outcomes[i].sent.push_back({burst.egress_port[i], bytes});
  }
  for (auto& extra : tables_->extra.frames) {
    outcomes.back().sent.push_back({extra.port, std::move(extra.bytes)});
  }
  tables_->extra.frames.clear();
  return outcomes;
}

std::vector<Sent> World::Solicit() {
  std::vector<Sent> sent;
  tables_->neighbors.DueSolicitations(
      base::ToTick(now_), services_->watched_neighbors(), [&sent](const lb::Solicitation& due) {
        sent.push_back({due.port, Bytes(due.frame.begin(), due.frame.begin() + due.size)});
      });
  return sent;
}

}  // namespace penstock::packets
