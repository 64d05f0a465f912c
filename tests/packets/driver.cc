// The packet path as a program for the packet cases: reads commands, one a line, and answers on
// standard output. usage: packet_driver --host FILE --services FILE [--tamper RULE]
//
//   frame PORT HEADROOM FLAGS HEX   puts a frame into the next burst; FLAGS: "-", or names with
//                                   commas between: multi_segment, shared, checksum_verified
//   run                             runs the burst; answers for each frame, in order, a line
//                                   VERDICT and a line "sent PORT HEX" for each frame sent
//   clock MILLISECONDS              lets time pass
//   reset                           forgets flows, neighbors, rates and fragments
//   buffers COUNT                   lends so many buffers for fragments until the next reset
//   apply FILE                      other services; answers "ok" or "error TEXT"
//   solicit                         "sent PORT HEX" for each request of our own that is due
//   hash PROTOCOL SOURCE PORT DESTINATION PORT    the flow hash, 16 hexadecimal digits
//   table SLOTS                     owners of the first pool's first slots: "owners ADDRESS ..."
//   previous SLOTS                  likewise those that mid-stream packets without an entry go to
//                                   instead: "previous ADDRESS ...", "-" where there is none
//   digest                          of the first pool, 16 hexadecimal digits
//
// Frames with the verdict "held" are tried again at the end of every run and after every clock.
// What becomes of them is answered there by "released NUMBER VERDICT" and lines "sent ..." as
// above; frames are numbered from 0 on, since the last reset. Every answer ends with a line "end".

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "penstock/config/load.h"
#include "tests/packets/hashes.h"
#include "tests/packets/protocol.h"
#include "tests/packets/tamper.h"
#include "tests/packets/world.h"

namespace penstock::packets {
namespace {

class Session {
 public:
  Session(World& world, std::string tamper) : world_(world), tamper_(std::move(tamper)) {}

  void Handle(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "frame") return AddFrame(words);
    if (command == "run") {
      Run();
    } else if (command == "clock") {
      std::chrono::milliseconds::rep milliseconds = 0;
      words >> milliseconds;
      world_.AdvanceClock(std::chrono::milliseconds(milliseconds));
      PrintReleased();
    } else if (command == "buffers") {
      std::size_t count = 0;
      words >> count;
      world_.LimitBuffers(count);
    } else if (command == "reset") {
      world_.Reset();
    } else if (command == "apply") {
      std::string file;
      words >> file;
      const std::string error = world_.Apply(file);
      std::cout << (error.empty() ? "ok" : "error " + error) << "\n";
    } else if (command == "solicit") {
      PrintSent(world_.Solicit());
    } else if (command == "hash") {
      std::cout << HashOf(world_, words) << "\n";
    } else if (command == "table") {
      std::cout << "owners" << OwnersOf(world_, words) << "\n";
    } else if (command == "previous") {
      std::cout << "previous" << PreviousOwnersOf(world_, words) << "\n";
    } else if (command == "digest") {
      std::cout << world_.services().pool(0).table->digest() << "\n";
    } else {
      Die("no command is called " + command);
    }
    std::cout << "end\n" << std::flush;
  }

 private:
  void AddFrame(std::istringstream& words) {
    unsigned port = 0;
    Frame frame;
    std::string flags;
    std::string hex;
    words >> port >> frame.headroom >> flags >> hex;
    frame.port = static_cast<uint8_t>(port);
    frame.flags = FlagsFrom(flags);
    frame.bytes = FromHex(hex);
    frames_.push_back(std::move(frame));
  }

  void Run() {
    if (frames_.empty()) return;
    std::vector<Outcome> outcomes = world_.Run(frames_);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!tamper_.empty()) Tamper(tamper_, frames_[i], outcomes[i]);
      std::cout << outcomes[i].verdict << "\n";
      PrintSent(outcomes[i].sent);
    }
    frames_.clear();
    PrintReleased();
  }

  void PrintReleased() {
    for (Released& one : world_.RetryHeld()) {
      if (!tamper_.empty()) Tamper(tamper_, one.frame, one.outcome);
      std::cout << "released " << one.number << " " << one.outcome.verdict << "\n";
      PrintSent(one.outcome.sent);
    }
  }

  static void PrintSent(const std::vector<Sent>& sent) {
    for (const Sent& one : sent) {
      std::cout << "sent " << one.port << " " << ToHex(one.bytes) << "\n";
    }
  }

  World& world_;
  std::string tamper_;
  std::vector<Frame> frames_;
};

}  // namespace
}  // namespace penstock::packets

int main(int argc, char** argv) {
  using namespace penstock;
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (argc == 2 && std::string(argv[1]) == "--rules") {
    for (const std::string_view rule : packets::TamperRules()) std::cout << rule << "\n";
    return 0;
  }
  const std::vector<std::string_view> rules = packets::TamperRules();
  if (options.contains("--tamper") && std::ranges::count(rules, options["--tamper"]) == 0) {
    packets::Die("no rule is called " + options["--tamper"]);
  }
  const auto host = config::LoadHostConfig(options["--host"]);
  for (const std::string& error : host.errors) std::cerr << error << "\n";
  if (!host.ok()) return 2;
  packets::World world(host.value);
  const std::string error = world.Apply(options["--services"]);
  if (!error.empty()) packets::Die(error);
  packets::Session session(world, options["--tamper"]);
  for (std::string line; std::getline(std::cin, line);) session.Handle(line);
  return 0;
}
