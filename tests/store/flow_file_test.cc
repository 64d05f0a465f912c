// Flows over a restart: what comes back, and that nothing damaged does.

#include "penstock/store/flow_file.h"

#include <absl/status/status.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "store/byte_stream.h"
#include "store/checksum.h"
#include "store/flow_codec.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

using lb::SavedFlow;
using lb::SavedFlows;
using testing::HasSubstr;

net::IpAddress Address(const char* text) {
  return *net::IpAddress::Parse(text);
}

SavedFlows SomeFlows() {
  SavedFlows flows{.time = std::chrono::sys_seconds(std::chrono::seconds(1700000000)),
                   .services = {"web-https", "dns"},
                   .backends = {{.pool = "web", .address = Address("10.1.0.11")},
                                {.pool = "dns", .address = Address("2001:db8:9::13")}}};
  flows.flows = {{.source = Address("192.0.2.1"),
                  .destination = Address("203.0.113.10"),
                  .source_port = 50000,
                  .destination_port = 443,
                  .protocol = 6,
                  .confirmed = true,
                  .service = 0,
                  .backend = 1,
                  .idle_seconds = 70000},
                 {.source = Address("2001:db8::1"),
                  .destination = Address("2001:db8:f::10"),
                  .source_port = 1,
                  .destination_port = 65535,
                  .protocol = 17,
                  .service = 1}};
  return flows;
}

// SomeFlows as the format says, with a checksum that fits whatever `change` did.
std::string Forged(const std::function<void(std::string&)>& change) {
  std::string bytes = *EncodeFlows(SomeFlows());
  bytes.resize(bytes.size() - 8);
  change(bytes);
  Checksum sum;
  sum.Add(bytes);
  ByteWriter end;
  end.Put(sum.value());
  return bytes + end.bytes();
}

TEST_F(StoreTest, FlowsComeBackAsTheyWere) {
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());
  EXPECT_EQ(ModeOf(directory + "/flows.db"), 0600U);
  const auto flows = ReadFlows(directory);
  ASSERT_TRUE(flows.ok()) << flows.status();
  EXPECT_EQ(*flows, SomeFlows());
  ASSERT_TRUE(WriteFlows(directory, {}).ok());
  EXPECT_EQ(*ReadFlows(directory), SavedFlows{});
}

TEST_F(StoreTest, ForgottenFlowsAreGone) {
  EXPECT_TRUE(ForgetFlows(directory).ok());  // there are none
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());
  ASSERT_TRUE(ForgetFlows(directory).ok());
  EXPECT_TRUE(absl::IsNotFound(ReadFlows(directory).status()));
}

TEST_F(StoreTest, FlowsThatOthersMayReadAreRefused) {
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());
  ASSERT_EQ(chmod((directory + "/flows.db").c_str(), 0644), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadFlows(directory).status()));
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());  // a new file with its own mode
  EXPECT_EQ(ModeOf(directory + "/flows.db"), 0600U);
}

TEST_F(StoreTest, C01_DamagedFlowsAreRefusedAtEveryByte) {
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());
  const std::string path = directory + "/flows.db";
  const std::string good = ReadFile(path);
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = good;
      bytes[offset] = static_cast<char>(bytes[offset] ^ flip);
      WriteFile(path, bytes);
      const absl::Status status = ReadFlows(directory).status();
      EXPECT_TRUE(absl::IsDataLoss(status)) << offset << " " << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(path + " is damaged"));
    }
    WriteFile(path, good.substr(0, offset));
    EXPECT_TRUE(absl::IsDataLoss(ReadFlows(directory).status())) << "cut to " << offset;
  }
  WriteFile(path, good + '\0');
  EXPECT_TRUE(absl::IsDataLoss(ReadFlows(directory).status()));
}

TEST_F(StoreTest, AnotherVersionOfFlowsIsNamed) {
  ASSERT_TRUE(WriteFlows(directory, {}).ok());
  WriteFile(directory + "/flows.db", Forged([](std::string& bytes) { bytes[8] = 2; }));
  const absl::Status status = ReadFlows(directory).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 2, this release knows 1"));
}

// A fitting checksum is no proof of sense.
TEST_F(StoreTest, FlowsWithoutSenseAreRefused) {
  const std::size_t services = 8 + 4 + 8;
  const std::size_t backends = services + 4 + 2 + 9 + 2 + 3;
  const std::size_t flows = backends + 4 + (2 + 3 + 1 + 4) + (2 + 3 + 1 + 16);
  const std::size_t first = flows + 8;
  EXPECT_TRUE(DecodeFlows(Forged([](std::string&) {})).ok());
  const auto refused = [](std::size_t offset, char byte) {
    return absl::IsDataLoss(
        DecodeFlows(Forged([&](std::string& bytes) { bytes.at(offset) = byte; })).status());
  };
  EXPECT_TRUE(refused(services, 3)) << "one name too many";
  EXPECT_TRUE(refused(services + 3, '\x7f')) << "2 billion names";
  EXPECT_TRUE(refused(backends + 3, '\x7f')) << "2 billion backends";
  EXPECT_TRUE(refused(backends + 4 + 2 + 3, 5)) << "no family";
  EXPECT_TRUE(refused(flows, 1)) << "bytes left over";
  EXPECT_TRUE(refused(flows, 3)) << "one flow too many";
  EXPECT_TRUE(refused(flows + 7, '\x7f')) << "more flows than memory";
  EXPECT_TRUE(refused(first, 4)) << "an unknown kind";
  EXPECT_TRUE(refused(first + 6, 2)) << "no such service";
  EXPECT_TRUE(refused(first + 10, 2)) << "no such backend";
}

TEST_F(StoreTest, FlowsThatNameNothingAreNotWritten) {
  ASSERT_TRUE(WriteFlows(directory, SomeFlows()).ok());
  SavedFlows service = SomeFlows();
  service.flows[0].service = 2;
  SavedFlows backend = SomeFlows();
  backend.flows[0].backend = 2;
  SavedFlows families = SomeFlows();
  families.flows[0].destination = families.flows[1].destination;
  SavedFlows name = SomeFlows();
  name.services[1] = std::string(65536, 'x');
  for (const SavedFlows& flows : {service, backend, families, name}) {
    EXPECT_TRUE(absl::IsInvalidArgument(WriteFlows(directory, flows)));
  }
  EXPECT_EQ(*ReadFlows(directory), SomeFlows());
}

TEST_F(StoreTest, AMillionFlowsFit) {
  SavedFlows flows = SomeFlows();
  flows.flows.resize(1'000'000, flows.flows[1]);
  for (std::size_t i = 0; i < flows.flows.size(); ++i) {
    flows.flows[i].source_port = static_cast<uint16_t>(i);
    flows.flows[i].idle_seconds = static_cast<uint32_t>(i);
  }
  ASSERT_TRUE(WriteFlows(directory, flows).ok());
  EXPECT_LT(std::filesystem::file_size(directory + "/flows.db"), 51'000'000U);
  const auto read = ReadFlows(directory);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == flows);
}

}  // namespace
}  // namespace penstock::store
