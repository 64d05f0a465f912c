// Any bytes as a services file, as penstockd.yaml and as a stored configuration. Must hold: no
// crash, no sanitizer report, each refusal has a line to print; and what is accepted is written and
// read back to the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "penstock/config/convert.h"
#include "penstock/config/dump.h"
#include "penstock/config/load.h"
#include "penstock/config/serialize.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void RequireStored(const ServicesConfig& config) {
  const auto again = Deserialize(Serialize(config));
  Require(again.ok() && *again == config);
}

void TryStored(std::string_view bytes) {
  const auto config = Deserialize(bytes);
  Require(config.ok() || !config.status().message().empty());
  if (config.ok()) RequireStored(*config);
}

void TryServices(std::string_view text) {
  const auto loaded = ParseServicesConfig(text, "f");
  for (const std::string& line : loaded.errors) Require(line.starts_with("f:"));
  if (!loaded.ok()) return;
  const auto again = ParseServicesConfig(DumpServicesConfig(loaded.value), "f");
  Require(again.ok() && again.value == loaded.value);
  RequireStored(loaded.value);
  Require(!loaded.source.Format(Warnings(loaded.value)).empty() || !loaded.value.hash.seed.empty());
}

void TryHost(std::string_view text) {
  const auto loaded = ParseHostConfig(text, "f");
  for (const std::string& line : loaded.errors) Require(line.starts_with("f:"));
  if (!loaded.ok()) return;
  const auto again = ParseHostConfig(ProtoToYaml(ToProto(loaded.value)), "f");
  Require(again.ok() && again.value == loaded.value);
}

}  // namespace
}  // namespace penstock::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  penstock::config::TryServices(text);
  penstock::config::TryHost(text);
  penstock::config::TryStored(text);
  return 0;
}
