// What two services of one prefix and protocol may both list.

#include <random>

#include "penstock/config/validate.h"
#include "tests/config/files.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Tcp(const std::string& name, const std::string& address, const std::string& ports) {
  return "name: " + name + ", address: " + address + ", protocol: tcp" +
         (ports.empty() ? "" : ", ports: " + ports);
}

std::vector<std::string> Pair(const std::string& first, const std::string& second) {
  return Errors("", {Tcp("a", "192.0.2.1", first), Tcp("b", "192.0.2.1", second)});
}

TEST(ValidatePorts, SameExactPort) {
  EXPECT_THAT(Pair("[1, 2]", "[3, 2]"),
              ElementsAre("s:4:61 services[1].ports[1]: is the same as services[0].ports[1]"));
  // Expect: "2-2" is an exact port too, and the first of three is named by both others.
  EXPECT_THAT(Pair("[2]", "[\"2-2\", 2]"),
              ElementsAre("s:4:58 services[1].ports[0]: is the same as services[0].ports[0]",
                          "s:4:65 services[1].ports[1]: is the same as services[0].ports[0]"));
  EXPECT_THAT(Pair("[1, 2]", "[3]"), IsEmpty());
}

TEST(ValidatePorts, RangesThatIntersect) {
  EXPECT_THAT(Pair("[\"10-20\"]", "[\"20-30\"]"),
              ElementsAre("s:4:58 services[1].ports[0]: has ports in common with "
                          "services[0].ports[0], 10-20"));
  // Expect: whichever begins first, the mistake is at the place that comes later in the file.
  EXPECT_THAT(Pair("[\"20-30\"]", "[\"1-65535\"]"),
              ElementsAre("s:4:58 services[1].ports[0]: has ports in common with "
                          "services[0].ports[0], 20-30"));
  EXPECT_THAT(Pair("[\"10-20\"]", "[\"21-30\", \"1-9\"]"), IsEmpty());
  // Expect: a short range does not hide the long one around it.
  EXPECT_THAT(Pair("[\"10-90\"]", "[\"20-30\", \"80-99\"]").size(), 2U);
}

TEST(ValidatePorts, ExactPortInsideARange) {
  // Expect: no mistake, the exact port wins; also within one service.
  EXPECT_THAT(Pair("[\"10-20\"]", "[15]"), IsEmpty());
  EXPECT_THAT(Pair("[15]", "[\"10-20\"]"), IsEmpty());
  EXPECT_THAT(Errors("", {Tcp("a", "192.0.2.1", "[15, \"10-20\"]")}), IsEmpty());
}

TEST(ValidatePorts, EveryPortTwice) {
  EXPECT_THAT(Pair("", ""), ElementsAre("s:4:5 services[1].ports: is every port, the same as "
                                        "services[0].ports"));
  // Expect: every port beside ports and ranges is the rest of them.
  EXPECT_THAT(Pair("", "[\"1-65535\", 80]"), IsEmpty());
}

TEST(ValidatePorts, WithinOneService) {
  EXPECT_THAT(Errors("", {Tcp("a", "192.0.2.1", "[80, \"1-9\", 80, \"9-12\"]")}),
              ElementsAre("s:3:69 services[0].ports[2]: is the same as services[0].ports[0]",
                          "s:3:73 services[0].ports[3]: has ports in common with "
                          "services[0].ports[1], 1-9"));
}

TEST(ValidatePorts, OtherPrefixOrProtocol) {
  // Expect: prefixes of different lengths may overlap, the longer one decides.
  EXPECT_THAT(
      Errors("", {Tcp("a", "192.0.2.0/24", ""), Tcp("b", "192.0.2.0/25", ""),
                  Tcp("c", "192.0.2.0", ""), Tcp("d", "192.0.2.1", ""), Tcp("e", "0.0.0.0/0", "")}),
      ElementsAre("s:7:24 services[4].address: 0.0.0.0/0 is every address"));
  EXPECT_THAT(Errors("", {Tcp("a", "192.0.2.0/24", "[80]"), Tcp("b", "192.0.2.0/24", "[80]")}),
              testing::SizeIs(1));
  EXPECT_THAT(Errors("", {Tcp("a", "192.0.2.1", ""), "name: b, address: 192.0.2.1, protocol: udp"}),
              IsEmpty());
}

TEST(ValidatePorts, PrefixThatCannotBe) {
  // Expect: nothing is said about other services, whose prefix may have been meant or not; the
  // service's own list is checked nevertheless.
  EXPECT_THAT(Errors("", {Tcp("a", "192.0.2.0/99", "[80]"), Tcp("b", "192.0.2.0/98", "[80, 80]")}),
              ElementsAre(testing::StartsWith("s:3:24 services[0].address: "),
                          testing::StartsWith("s:4:24 services[1].address: "),
                          "s:4:65 services[1].ports[1]: is the same as services[1].ports[0]"));
}

TEST(ValidatePorts, Structs) {
  ServicesConfig config = Services("", {Tcp("a", "192.0.2.1", "[1]")});
  config.services[0].ports = {{0, 0}, {0, 5}, {5, 0}, {9, 8}, {65535, 65535}};
  EXPECT_THAT(Validate(config),
              ElementsAre(Violation{"services[0].ports[0]", "0 is not in 1..65535"},
                          Violation{"services[0].ports[1]", "0 is not in 1..65535"},
                          Violation{"services[0].ports[2]", "0 is not in 1..65535"},
                          Violation{"services[0].ports[3]", "begins after its end"}));
}

// Whether two of the services claim the same, by looking at each pair.
bool AnyClash(const std::vector<PortRange>& ranges) {
  const auto is_exact = [](const PortRange& range) { return range.first == range.last; };
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (is_exact(ranges[i]) != is_exact(ranges[j])) continue;
      if (ranges[i].first <= ranges[j].last && ranges[j].first <= ranges[i].last) return true;
    }
  }
  return false;
}

TEST(ValidatePorts, SameAsEachPairForItself) {
  std::mt19937 random(1);
  int clashes = 0;
  for (int round = 0; round < 3000; ++round) {
    ServicesConfig config = Services("", {Tcp("a", "192.0.2.1", "[1]")});
    auto& ports = config.services[0].ports;
    ports.clear();
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      const auto first = static_cast<uint16_t>(1 + random() % 40);
      ports.push_back({first, static_cast<uint16_t>(first + random() % 5)});
    }
    ASSERT_EQ(!Validate(config).empty(), AnyClash(ports)) << round;
    clashes += AnyClash(ports) ? 1 : 0;
  }
  // Expect: both kinds were there.
  EXPECT_GT(clashes, 500);
  EXPECT_LT(clashes, 2500);
}

}  // namespace
}  // namespace penstock::config
