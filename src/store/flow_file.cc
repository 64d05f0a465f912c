#include "penstock/store/flow_file.h"

#include <cstddef>
#include <string_view>

#include "store/files.h"
#include "store/flow_codec.h"

namespace penstock::store {
namespace {

constexpr const char* kFileName = "flows.db";
// 20 million IPv6 flows, more than the flow tables of a host are meant for.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

}  // namespace

absl::Status WriteFlows(const std::string& directory, const lb::SavedFlows& flows) {
  if (const absl::Status status = PrepareDirectory(directory); !status.ok()) return status;
  const absl::StatusOr<std::string> bytes = EncodeFlows(flows);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() > kMaxFileBytes) return absl::InvalidArgumentError("too many flows for a file");
  return WriteWhole(directory, kFileName, *bytes);
}

absl::StatusOr<lb::SavedFlows> ReadFlows(const std::string& directory) {
  const std::string path = directory + "/" + kFileName;
  const absl::StatusOr<std::string> bytes = ReadPrivateFile(path, kMaxFileBytes);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<lb::SavedFlows> flows = DecodeFlows(*bytes);
  if (flows.ok() || absl::IsDataLoss(flows.status())) {
    if (!flows.ok()) return Damaged(path, std::string(flows.status().message()));
    return flows;
  }
  return absl::FailedPreconditionError(
      WithFix(path + " is of another release (" + std::string(flows.status().message()) + ")",
              "run that release, or move the file away; only tracked flows are lost"));
}

absl::Status ForgetFlows(const std::string& directory) {
  return RemoveFile(directory, kFileName);
}

}  // namespace penstock::store
