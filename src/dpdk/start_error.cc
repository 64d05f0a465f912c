#include "dpdk/start_error.h"

#include <spdlog/fmt/fmt.h>

namespace penstock::dpdk {
namespace {

constexpr std::string_view kSeparator = "; fix: ";

}  // namespace

absl::Status StartError(std::string_view cause, std::string_view fix) {
  return absl::FailedPreconditionError(fmt::format("{}{}{}", cause, kSeparator, fix));
}

StartFailure SplitStartError(const absl::Status& status) {
  const std::string message(status.message());
  const std::size_t split = message.find(kSeparator);
  if (split == std::string::npos) return {message, ""};
  return {message.substr(0, split), message.substr(split + kSeparator.size())};
}

}  // namespace penstock::dpdk
