// Small services files and hosts for the tests of rules.

#ifndef PENSTOCK_TESTS_CONFIG_FILES_H_
#define PENSTOCK_TESTS_CONFIG_FILES_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/config/load.h"

namespace penstock::config {

inline net::IpPrefix Prefix(std::string_view text) {
  return *net::IpPrefix::Parse(text);
}

// A file with the pool p on line 1, whose `backends` are addresses with a blank between them, and
// the `services` from line 3 on, one on each line, all using p.
inline std::string FileOf(const std::string& backends, const std::vector<std::string>& services) {
  std::string text = "pools: [{name: p, backends: [";
  for (std::size_t begin = 0; begin < backends.size();) {
    const std::size_t end = std::min(backends.find(' ', begin), backends.size());
    text += (begin == 0 ? "{address: \"" : ", {address: \"") + backends.substr(begin, end - begin) +
            "\"}";
    begin = end + 1;
  }
  text += "]}]\nservices:\n";
  for (const std::string& service : services) {
    text += "  - {" + service + ", pool: p}\n";
  }
  return text;
}

inline std::vector<std::string> Errors(const std::string& backends,
                                       const std::vector<std::string>& services) {
  return ParseServicesConfig(FileOf(backends, services), "s").errors;
}

// REQUIRES: no mistakes.
inline ServicesConfig Services(const std::string& backends,
                               const std::vector<std::string>& services) {
  auto loaded = ParseServicesConfig(FileOf(backends, services), "s");
  EXPECT_THAT(loaded.errors, testing::IsEmpty());
  return loaded.value;
}

// A host with the port "up" of these further keys. REQUIRES: no mistakes.
inline HostConfig Host(const std::string& port) {
  auto loaded =
      ParseHostConfig("dataplane: {ports: [{name: up, device: net_null0, " + port + "}]}", "h");
  EXPECT_THAT(loaded.errors, testing::IsEmpty());
  return loaded.value;
}

}  // namespace penstock::config

#endif  // PENSTOCK_TESTS_CONFIG_FILES_H_
