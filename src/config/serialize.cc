#include "penstock/config/serialize.h"

#include <absl/status/status.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

#include <limits>

#include "config/rules.h"
#include "config/text.h"
#include "penstock/config/convert.h"
#include "penstock/v1/stored_config.pb.h"

namespace penstock::config {
namespace {

namespace pb = google::protobuf;

absl::Status Refusal(const Violations& violations) {
  const Violation& first = violations.front();
  return absl::InvalidArgumentError(Concat("the stored configuration",
                                           first.path.empty() ? "" : ": ", Printable(first.path),
                                           " ", first.reason, AndMore(violations.size())));
}

}  // namespace

std::string Serialize(const ServicesConfig& config) {
  v1::StoredConfig message;
  *message.mutable_config() = ToProto(config);
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream output(&stream);
    output.SetSerializationDeterministic(true);  // maps by key
    message.SerializeToCodedStream(&output);
  }
  return bytes;
}

absl::StatusOr<ServicesConfig> Deserialize(std::string_view bytes) {
  constexpr std::size_t kMaxBytes = std::numeric_limits<int>::max();
  v1::StoredConfig message;
  if (bytes.size() > kMaxBytes ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("the stored configuration is damaged: it cannot be parsed");
  }
  const pb::UnknownFieldSet& unknown = message.GetReflection()->GetUnknownFields(message);
  if (!unknown.empty()) {
    return Refusal({{"", Concat("has field number ", unknown.field(0).number(),
                                ", which this release does not know")}});
  }
  if (!message.has_config()) {
    return absl::InvalidArgumentError("the stored configuration is damaged: it is empty");
  }
  ServicesConfig config;
  const Violations violations = FromProto(message.config(), config);
  if (!violations.empty()) return Refusal(violations);
  return config;
}

}  // namespace penstock::config
