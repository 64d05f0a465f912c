#include "config/scalar.h"

#include <google/protobuf/duration.pb.h>

#include <charconv>

#include "absl/strings/str_join.h"
#include "config/duration.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/v1/config.pb.h"

namespace penstock::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

std::string Wanted(std::string_view what, const YamlNode& node) {
  return Concat("has to be ", what, ", not ", node.Describe());
}

// Decimal digits without a leading zero, which elsewhere means octal.
std::errc ParseUint32(std::string_view text, uint32_t& number) {
  if (text.size() > 1 && text[0] == '0') return std::errc::invalid_argument;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop != end ? std::errc::invalid_argument : error;
}

std::string SetNumber(const YamlNode& node, const Field& field, pb::Message& message) {
  uint32_t number = 0;
  const std::errc error =
      node.IsPlain() ? ParseUint32(node.text, number) : std::errc::invalid_argument;
  const pb::Reflection* reflection = message.GetReflection();
  if (field.is_repeated()) {
    reflection->AddUInt32(&message, &field, number);
  } else if (error == std::errc()) {
    reflection->SetUInt32(&message, &field, number);
  }
  if (error == std::errc()) return "";
  if (error == std::errc::result_out_of_range) {
    return Concat(QuoteShort(node.text), " is larger than 4294967295");
  }
  return Wanted("a number, 0 or more", node);
}

std::string SetBool(const YamlNode& node, const Field& field, pb::Message& message) {
  const bool is_true = node.IsPlain() && node.text == "true";
  if (!is_true && !(node.IsPlain() && node.text == "false")) {
    return Wanted("true or false", node);
  }
  message.GetReflection()->SetBool(&message, &field, is_true);
  return "";
}

std::string SetText(const YamlNode& node, const Field& field, pb::Message& message) {
  const bool is_text = node.kind == YamlNode::Kind::kScalar;
  const pb::Reflection* reflection = message.GetReflection();
  if (field.is_repeated()) {
    reflection->AddString(&message, &field, is_text ? node.text : "");
  } else if (is_text) {
    reflection->SetString(&message, &field, node.text);
  }
  if (is_text) return "";
  if (node.kind == YamlNode::Kind::kNull) return "has no value; write \"\" for an empty text";
  return Wanted("text", node);
}

std::string SetEnum(const YamlNode& node, const Field& field, pb::Message& message) {
  const std::vector<std::string> names = UsableNames(*field.enum_type());
  const std::string wanted = Concat("one of ", absl::StrJoin(names, ", "));
  if (node.kind != YamlNode::Kind::kScalar) return Wanted(wanted, node);
  const pb::EnumValueDescriptor* value = FindByShortName(*field.enum_type(), node.text);
  if (value != nullptr) {
    message.GetReflection()->SetEnum(&message, &field, value);
    return "";
  }
  const auto nearest = Nearest(node.text, names);
  return Concat(Wanted(wanted, node), nearest ? Concat("; did you mean \"", *nearest, "\"?") : "");
}

// The field's message: a new one when it is repeated.
pb::Message& Submessage(const Field& field, pb::Message& message) {
  const pb::Reflection* reflection = message.GetReflection();
  return field.is_repeated() ? *reflection->AddMessage(&message, &field)
                             : *reflection->MutableMessage(&message, &field);
}

std::string SetDuration(const YamlNode& node, const Field& field, pb::Message& message) {
  const auto duration = node.kind == YamlNode::Kind::kScalar
                            ? ParseDuration(node.text)
                            : std::optional<std::chrono::nanoseconds>();
  if (!duration) return Wanted("a duration such as 500ms, 30s or 1h30m", node);
  pb::Duration value;
  value.set_seconds(duration->count() / 1'000'000'000);
  value.set_nanos(static_cast<int32_t>(duration->count() % 1'000'000'000));
  Submessage(field, message).CopyFrom(value);
  return "";
}

std::string SetPortRange(const YamlNode& node, const Field& field, pb::Message& message) {
  v1::PortRange range;
  const std::string_view text = node.text;
  const std::size_t dash = text.find('-');
  uint32_t first = 0;
  uint32_t last = 0;
  const bool good = node.kind == YamlNode::Kind::kScalar &&
                    ParseUint32(text.substr(0, dash), first) == std::errc() &&
                    ParseUint32(dash == std::string_view::npos ? text : text.substr(dash + 1),
                                last) == std::errc();
  if (good) {
    range.set_first(first);
    range.set_last(last);
  }
  Submessage(field, message).CopyFrom(range);
  return good ? "" : Wanted("a port, or a range such as \"8000-8010\"", node);
}

}  // namespace

bool IsScalar(const Field& field) {
  if (field.cpp_type() != Field::CPPTYPE_MESSAGE) return true;
  return IsDuration(*field.message_type()) || IsPortRange(*field.message_type());
}

std::string SetScalar(const YamlNode& node, const Field& field, pb::Message& message) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_UINT32:
      return SetNumber(node, field, message);
    case Field::CPPTYPE_BOOL:
      return SetBool(node, field, message);
    case Field::CPPTYPE_STRING:
      return SetText(node, field, message);
    case Field::CPPTYPE_ENUM:
      return SetEnum(node, field, message);
    case Field::CPPTYPE_MESSAGE:
      return IsDuration(*field.message_type()) ? SetDuration(node, field, message)
                                               : SetPortRange(node, field, message);
    default:
      return "cannot be written in YAML";
  }
}

}  // namespace penstock::config
