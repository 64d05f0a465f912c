// Any bytes as the file of kept flows: as they are, and with a checksum that fits, so that what
// stands behind it is reached.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "store/byte_stream.h"
#include "store/checksum.h"
#include "store/flow_codec.h"

namespace {

using namespace penstock;

// What is accepted names only what is there, and is written as it was read.
void Check(const std::string& bytes) {
  const absl::StatusOr<lb::SavedFlows> flows = store::DecodeFlows(bytes);
  if (!flows.ok()) {
    if (flows.status().message().empty()) std::abort();
    return;
  }
  for (const lb::SavedFlow& flow : flows->flows) {
    if (flow.service >= flows->services.size() || flow.backend >= flows->backends.size()) {
      std::abort();
    }
  }
  const absl::StatusOr<std::string> again = store::EncodeFlows(*flows);
  if (!again.ok() || *again != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes);
  store::Checksum sum;
  sum.Add(bytes);
  store::ByteWriter end;
  end.Put(sum.value());
  Check(bytes + end.bytes());
  return 0;
}
