// A controller over a fake data plane.

#ifndef PENSTOCK_TESTS_CONTROL_SCENE_H_
#define PENSTOCK_TESTS_CONTROL_SCENE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/control/controller.h"
#include "tests/control/fake_dataplane.h"

namespace penstock::control {

class ControllerTest : public testing::Test {
 protected:
  // The service of 203.0.113.10 at a TCP port in what the workers run.
  const lb::Service* FindService(const lb::ServiceTable& table, uint16_t port) const {
    lb::FlowKey4 key;
    key.destination = Address("203.0.113.10").v4().raw();
    key.destination_port = base::be16_t(port);
    key.service = lb::ServiceAndProtocol::Of(lb::kNoId, net::kProtocolTcp);
    return table.Find(key).service;
  }
  const lb::Pool& PoolOf(const lb::ServiceTable& table, uint16_t port) const {
    return table.pool(FindService(table, port)->pool);
  }
  std::string DigestOf(std::string_view pool) const {
    for (const PoolView& view : controller.ListPools().items) {
      if (view.name == pool) return view.digest;
    }
    return "no such pool";
  }
  uint64_t MustApply(const config::ServicesConfig& config) {
    const ChangeResult result = controller.Apply(config);
    EXPECT_TRUE(result.status.ok())
        << result.status
        << (result.violations.empty()
                ? std::string()
                : result.violations[0].path + ": " + result.violations[0].reason);
    return result.generation;
  }

  FakePublisher publisher;
  FakeReader reader;
  Controller controller{publisher, reader, TestHost()};
};

}  // namespace penstock::control

#endif  // PENSTOCK_TESTS_CONTROL_SCENE_H_
