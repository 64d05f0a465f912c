#include "config/schema.h"

#include <google/protobuf/duration.pb.h>

#include "absl/strings/ascii.h"
#include "config/text.h"
#include "penstock/v1/config.pb.h"
#include "penstock/v1/options.pb.h"

namespace penstock::config {

namespace pb = google::protobuf;

std::string ShortName(const pb::EnumValueDescriptor& value) {
  const std::string& zero = value.type()->value(0)->name();
  const std::size_t prefix = zero.size() - std::string_view("UNSPECIFIED").size();
  return absl::AsciiStrToLower(value.name().substr(prefix));
}

const pb::EnumValueDescriptor* FindByShortName(const pb::EnumDescriptor& type,
                                               std::string_view name) {
  for (int i = 1; i < type.value_count(); ++i) {
    if (ShortName(*type.value(i)) == name) return type.value(i);
  }
  return nullptr;
}

std::vector<std::string> UsableNames(const pb::EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 1; i < type.value_count(); ++i) {
    if (!IsNotYetSupported(*type.value(i))) names.push_back(ShortName(*type.value(i)));
  }
  return names;
}

std::vector<std::string> UsableNames(const pb::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    if (!IsNotYetSupported(*type.field(i))) names.push_back(type.field(i)->name());
  }
  return names;
}

bool IsNotYetSupported(const pb::FieldDescriptor& field) {
  return field.options().GetExtension(v1::not_yet_supported);
}

bool IsNotYetSupported(const pb::EnumValueDescriptor& value) {
  return value.options().GetExtension(v1::value_not_yet_supported);
}

bool IsDuration(const pb::Descriptor& type) {
  return &type == pb::Duration::descriptor();
}

bool IsPortRange(const pb::Descriptor& type) {
  return &type == v1::PortRange::descriptor();
}

std::string Below(std::string_view path, std::string_view field) {
  return path.empty() ? std::string(field) : Concat(path, ".", field);
}

std::string Item(std::string_view path, std::size_t index) {
  return Concat(path, "[", index, "]");
}

}  // namespace penstock::config
