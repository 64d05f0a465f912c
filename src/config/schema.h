// How the schema is spelt in YAML and in messages.

#ifndef PENSTOCK_SRC_CONFIG_SCHEMA_H_
#define PENSTOCK_SRC_CONFIG_SCHEMA_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

namespace penstock::config {

// "tcp" of PROTOCOL_TCP: lower case, without the prefix that the zero value PROTOCOL_UNSPECIFIED
// shows. The zero value itself has no name.
[[nodiscard]] std::string ShortName(const google::protobuf::EnumValueDescriptor& value);
// nullptr when no value but the zero one has this short name.
[[nodiscard]] const google::protobuf::EnumValueDescriptor* FindByShortName(
    const google::protobuf::EnumDescriptor& type, std::string_view name);
// What an operator may write: without the zero value and those not yet supported.
[[nodiscard]] std::vector<std::string> UsableNames(const google::protobuf::EnumDescriptor& type);
// Field names without those not yet supported.
[[nodiscard]] std::vector<std::string> UsableNames(const google::protobuf::Descriptor& type);

[[nodiscard]] bool IsNotYetSupported(const google::protobuf::FieldDescriptor& field);
[[nodiscard]] bool IsNotYetSupported(const google::protobuf::EnumValueDescriptor& value);
inline constexpr char kNotYetSupported[] = "is not yet supported";

// Messages that are one scalar in YAML.
[[nodiscard]] bool IsDuration(const google::protobuf::Descriptor& type);
[[nodiscard]] bool IsPortRange(const google::protobuf::Descriptor& type);

// `path` with a field or an index below it: "" and "pools" are "pools", "pools" and 0 "pools[0]".
[[nodiscard]] std::string Below(std::string_view path, std::string_view field);
[[nodiscard]] std::string Item(std::string_view path, std::size_t index);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_SCHEMA_H_
