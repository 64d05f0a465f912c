// fake_daemon SOCKET [SILENT_WORKER]: serves until its standard input ends. Says "ready" first.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "penstock/control/controller.h"
#include "rpc/server.h"
#include "tests/control/fake_dataplane.h"

int main(int argc, char** argv) {
  using namespace penstock;
  if (argc < 2) return 2;
  control::FakePublisher publisher;
  control::FakeReader reader;
  reader.generation = [&publisher] {
    const auto current = publisher.current();
    return current == nullptr ? 0 : current->generation();
  };
  reader.counters.ports.resize(1);
  reader.counters.ports[0].name = "uplink";
  reader.counters.ports[0].received_packets = 5;
  reader.counters.ports[0].verdicts[0] = 3;
  reader.counters.ports[0].verdicts.back() = 2;
  reader.ports_of_workers = {{.name = "uplink",
                              .received = 21,
                              .forwarded = 1,
                              .answered = 2,
                              .held = 4,
                              .dropped = 14,
                              .transmitted = 3}};
  if (argc > 2) publisher.silent = {std::atoi(argv[2])};
  control::Controller controller(publisher, reader, control::TestHost());
  const std::string address = std::string("unix:") + argv[1];
  const auto server = rpc::Server::Start({.listen = {address}, .version = "0.1.0"}, controller);
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
