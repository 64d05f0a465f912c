// One penstock host without devices: its two YAML files, and ForwardBurst on frames given as bytes.

#ifndef PENSTOCK_TESTS_PACKETS_WORLD_H_
#define PENSTOCK_TESTS_PACKETS_WORLD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/config/host_config.h"
#include "penstock/control/controller.h"
#include "penstock/lb/pipeline.h"
#include "tests/control/fake_dataplane.h"

namespace penstock::packets {

using Bytes = std::vector<uint8_t>;

// A frame as a device hands it over.
struct Frame {
  Bytes bytes;
  uint8_t port = 0;
  uint16_t headroom = 128;  // of DPDK's buffers
  uint8_t flags = 0;        // PacketBurst::flags
};

// A frame as it would be handed to a device.
struct Sent {
  int port = 0;
  Bytes bytes;
};

struct Outcome {
  std::string verdict;
  std::vector<Sent> sent;  // none, one, or a packet's fragments
};

// A frame that was held and is no more.
struct Released {
  std::size_t number = 0;  // of the frame, among all since the last Reset, from 0 on
  Frame frame;
  Outcome outcome;
};

// Ports have the MAC addresses of DPDK's net_pcap devices, so that the same cases run there.
class World {
 public:
  explicit World(config::HostConfig host);

  // Empty, or what is wrong with the file.
  [[nodiscard]] std::string Apply(const std::string& services_file);
  // Forgets flows, neighbors, rates, and fragments with all that waits for them; the services stay.
  void Reset();
  void AdvanceClock(std::chrono::milliseconds time);
  // From now to the next Reset there are buffers for so many frames of our own making.
  void LimitBuffers(std::size_t frames);
  // Runs the frames as one burst. Fragments beside the first one are told with the last packet:
  // whoever wants to know whose they are sends one frame at a time. Frames with the verdict "held"
  // are kept. REQUIRES: services have been applied; 1 to lb::kBurstSize frames.
  [[nodiscard]] std::vector<Outcome> Run(const std::vector<Frame>& frames);
  // Tries the frames that are held once more, as workers do all the time; those that come out.
  [[nodiscard]] std::vector<Released> RetryHeld();
  // Requests of our own making that are due now.
  [[nodiscard]] std::vector<Sent> Solicit();

  [[nodiscard]] const lb::ServiceTable& services() const { return *services_; }
  [[nodiscard]] const control::Controller& controller() const { return controller_; }

 private:
  // What depends on the shape of ForwardContext stands in here.
  struct Tables;

  [[nodiscard]] std::vector<Outcome> Forward(const std::vector<Frame>& frames);

  config::HostConfig host_;
  control::FakePublisher publisher_;
  control::FakeReader reader_;
  control::Controller controller_;  // by wall_clock_
  std::shared_ptr<const lb::ServiceTable> services_;
  std::shared_ptr<Tables> tables_;
  std::chrono::milliseconds now_{};
  std::chrono::milliseconds wall_clock_{};  // no Reset sets it back
  std::size_t frames_ = 0;                  // that came since the last Reset
};

}  // namespace penstock::packets

#endif  // PENSTOCK_TESTS_PACKETS_WORLD_H_
