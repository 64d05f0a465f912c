#include "rpc/to_status.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "penstock/config/convert.h"

namespace penstock::rpc {
namespace {

constexpr std::size_t kMaxDetails = 6 * 1024;  // bytes
// Around the violations: google.rpc.Status, its message, the Any and its type URL, "and N more".
constexpr std::size_t kEnvelope = 1024;
constexpr std::size_t kMaxMessage = 512;
// Tag and length of an embedded message.
constexpr std::size_t kFieldOverhead = 4;

// Not in the middle of a UTF-8 sequence: proto strings have to be valid.
std::string Shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return absl::StrCat(std::string(text.substr(0, end)), "...");
}

google::rpc::BadRequest ToBadRequest(const config::Violations& violations) {
  google::rpc::BadRequest request;
  std::size_t size = 0;
  for (const config::Violation& violation : violations) {
    auto* field = request.add_field_violations();
    field->set_field(Shortened(violation.path, kMaxMessage));
    field->set_description(Shortened(violation.reason, kMaxMessage));
    size += field->ByteSizeLong() + kFieldOverhead;
    if (size > kMaxDetails - kEnvelope) {
      request.mutable_field_violations()->RemoveLast();
      break;
    }
  }
  const std::size_t named = static_cast<std::size_t>(request.field_violations_size());
  if (named < violations.size()) {
    request.add_field_violations()->set_description(
        absl::StrCat("and ", violations.size() - named, " more"));
  }
  return request;
}

std::string Summary(const config::Violations& violations) {
  const config::Violation& first = violations.front();
  const std::string more =
      violations.size() == 1 ? "" : absl::StrCat(" (and ", violations.size() - 1, " more)");
  return absl::StrCat(Shortened(first.path, kMaxMessage / 2), first.path.empty() ? "" : ": ",
                      Shortened(first.reason, kMaxMessage / 2), more, "; nothing was changed");
}

}  // namespace

grpc::Status ToStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::string_view message = status.message();
  return {static_cast<grpc::StatusCode>(status.raw_code()),
          Shortened({message.data(), message.size()}, 2 * kMaxMessage)};
}

grpc::Status InvalidArgument(const config::Violations& violations) {
  const std::string message = Summary(violations);
  google::rpc::Status details;
  details.set_code(grpc::StatusCode::INVALID_ARGUMENT);
  details.set_message(message);
  details.add_details()->PackFrom(ToBadRequest(violations));
  return {grpc::StatusCode::INVALID_ARGUMENT, message, details.SerializeAsString()};
}

grpc::Status CheckRequest(const google::protobuf::Message& request) {
  const config::Violations violations = config::CheckSupported(request);
  return violations.empty() ? grpc::Status::OK : InvalidArgument(violations);
}

}  // namespace penstock::rpc
