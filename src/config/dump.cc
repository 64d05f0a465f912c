#include "penstock/config/dump.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "config/convert_duration.h"
#include "config/duration.h"
#include "config/scalar.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/convert.h"
#include "penstock/net/address.h"

namespace penstock::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

// Whether every YAML reader takes the bare text for the same text: a word that is not one of YAML's
// own, or an IPv4 address.
bool IsPlainText(const std::string& text) {
  if (net::IpPrefix::Parse(text) && text.find(':') == std::string::npos) return true;
  static constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no", "on",
                                                "off",  "y",    "n",     "nan", "inf"};
  const auto is_plain = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '/' || c == '.';
  };
  const std::string lower = absl::AsciiStrToLower(text);
  return !text.empty() && absl::ascii_isalpha(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_plain) &&
         std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords);
}

std::string Text(const std::string& text) {
  return IsPlainText(text) ? text : Quote(text);
}

std::string PortText(const v1::PortRange& range) {
  if (range.first() == range.last()) return Concat(range.first());
  return Concat("\"", range.first(), "-", range.last(), "\"");
}

std::string ScalarMessage(const pb::Message& message) {
  if (const auto* duration = pb::DynamicCastToGenerated<pb::Duration>(&message)) {
    return FormatDuration(ReadDuration(*duration).value_or(std::chrono::nanoseconds{0}));
  }
  const auto* range = pb::DynamicCastToGenerated<v1::PortRange>(&message);
  return range != nullptr ? PortText(*range) : "null";
}

constexpr int kNotRepeated = -1;

// Numbers that no file has, in what daemons answer: 64-bit ones and fractions.
std::string NumberText(const pb::Message& message, const Field& field, int index) {
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

std::string Scalar(const pb::Message& message, const Field& field) {
  const pb::Reflection* reflection = message.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_UINT32:
      return Concat(reflection->GetUInt32(message, &field));
    case Field::CPPTYPE_BOOL:
      return reflection->GetBool(message, &field) ? "true" : "false";
    case Field::CPPTYPE_STRING:
      return Text(reflection->GetString(message, &field));
    case Field::CPPTYPE_ENUM:
      return ShortName(*reflection->GetEnum(message, &field));
    case Field::CPPTYPE_MESSAGE:
      return ScalarMessage(reflection->GetMessage(message, &field));
    default:
      return NumberText(message, field, kNotRepeated);
  }
}

std::string RepeatedScalar(const pb::Message& message, const Field& field, int index) {
  const pb::Reflection* reflection = message.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_UINT32:
      return Concat(reflection->GetRepeatedUInt32(message, &field, index));
    case Field::CPPTYPE_STRING:
      return Text(reflection->GetRepeatedString(message, &field, index));
    case Field::CPPTYPE_MESSAGE:
      return ScalarMessage(reflection->GetRepeatedMessage(message, &field, index));
    default:
      return NumberText(message, field, index);
  }
}

// "{rack: r7}", sorted: a protobuf map has no order of its own.
std::string FlowMap(const pb::Message& message, const Field& field) {
  std::vector<std::string> entries;
  const pb::Reflection* reflection = message.GetReflection();
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const pb::Message& entry = reflection->GetRepeatedMessage(message, &field, i);
    const auto* type = entry.GetDescriptor();
    entries.push_back(
        Concat(Scalar(entry, *type->map_key()), ": ", Scalar(entry, *type->map_value())));
  }
  std::sort(entries.begin(), entries.end());
  return Concat("{", absl::StrJoin(entries, ", "), "}");
}

std::string FlowList(const pb::Message& message, const Field& field) {
  std::vector<std::string> items;
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) items.push_back(RepeatedScalar(message, field, i));
  return Concat("[", absl::StrJoin(items, ", "), "]");
}

bool IsFlow(const Field& field) {
  return field.is_map() || IsScalar(field);
}

// The value of a field that fits one line.
std::string FlowValue(const pb::Message& message, const Field& field) {
  if (field.is_map()) return FlowMap(message, field);
  return field.is_repeated() ? FlowList(message, field) : Scalar(message, field);
}

std::vector<const Field*> SetFields(const pb::Message& message) {
  std::vector<const Field*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

// A message is written on one line when its type, whatever is set in it, holds no further messages.
bool IsLeaf(const pb::Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (!IsFlow(*type.field(i))) return false;
  }
  return true;
}

std::string Leaf(const pb::Message& message) {
  std::vector<std::string> entries;
  for (const Field* field : SetFields(message)) {
    entries.push_back(Concat(field->name(), ": ", FlowValue(message, *field)));
  }
  return Concat("{", absl::StrJoin(entries, ", "), "}");
}

void Block(const pb::Message& message, std::size_t indent, std::string& out);

// The value behind "key:" or "-", on the same line when it is a leaf.
void Submessage(const pb::Message& message, std::size_t indent, bool in_list, std::string& out) {
  if (IsLeaf(*message.GetDescriptor()) || SetFields(message).empty()) {
    ConcatTo(out, " ", Leaf(message), "\n");
    return;
  }
  std::string block;
  Block(message, indent, block);
  // The first key of an item stands on the line of its dash.
  out += in_list ? " " + block.substr(indent) : "\n" + block;
}

void BlockList(const pb::Message& message, const Field& field, std::size_t indent,
               std::string& out) {
  const pb::Reflection* reflection = message.GetReflection();
  out += "\n";
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    out += std::string(indent + 2, ' ') + "-";
    Submessage(reflection->GetRepeatedMessage(message, &field, i), indent + 4, true, out);
  }
}

void Block(const pb::Message& message, std::size_t indent, std::string& out) {
  for (const Field* field : SetFields(message)) {
    ConcatTo(out, std::string(indent, ' '), field->name(), ":");
    if (IsFlow(*field)) {
      ConcatTo(out, " ", FlowValue(message, *field), "\n");
    } else if (field->is_repeated()) {
      BlockList(message, *field, indent, out);
    } else {
      Submessage(message.GetReflection()->GetMessage(message, field), indent + 2, false, out);
    }
  }
}

}  // namespace

std::string ProtoToYaml(const pb::Message& message) {
  std::string out;
  Block(message, 0, out);
  return out.empty() ? "{}\n" : out;
}

std::string DumpServicesConfig(const ServicesConfig& config) {
  std::string out;
  const v1::Config message = ToProto(config);
  Block(message, 0, out);
  // Their absence would read as a mistake.
  if (config.pools.empty()) out += "pools: []\n";
  if (config.services.empty()) out += "services: []\n";
  return out;
}

}  // namespace penstock::config
