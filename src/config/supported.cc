#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <vector>

#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/convert.h"

namespace penstock::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

bool HasUnprintable(std::string_view text) {
  while (!text.empty()) {
    const auto code_point = TakeUtf8(text);
    if (!code_point || IsUnprintable(*code_point)) return true;
  }
  return false;
}

// One walk over all that is set in a message.
class Walk {
 public:
  explicit Walk(Violations& violations) : violations_(violations) {}

  void Visit(const pb::Message& message, const std::string& path) {
    const pb::Reflection* reflection = message.GetReflection();
    const pb::UnknownFieldSet& unknown = reflection->GetUnknownFields(message);
    // A newer client's wish must not get lost in silence.
    for (int i = 0; i < unknown.field_count(); ++i) {
      violations_.push_back({path, Concat("has field number ", unknown.field(i).number(),
                                          ", which this release does not know")});
    }
    std::vector<const Field*> fields;
    reflection->ListFields(message, &fields);
    for (const Field* field : fields) VisitField(message, *field, path);
  }

 private:
  void VisitField(const pb::Message& message, const Field& field, const std::string& path) {
    const std::string below = Below(path, field.name());
    if (IsNotYetSupported(field)) {
      violations_.push_back({below, kNotYetSupported});
    } else if (field.is_map()) {
      VisitMap(message, field, below);
    } else if (field.is_repeated()) {
      const int size = message.GetReflection()->FieldSize(message, &field);
      for (int i = 0; i < size; ++i) {
        VisitItem(message, field, i, Item(below, static_cast<std::size_t>(i)));
      }
    } else {
      VisitSingle(message, field, below);
    }
  }

  // map<string, string>, the only kind in the schema.
  void VisitMap(const pb::Message& message, const Field& field, const std::string& path) {
    const pb::Reflection* reflection = message.GetReflection();
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      const pb::Message& entry = reflection->GetRepeatedMessage(message, &field, i);
      const auto* type = entry.GetDescriptor();
      if (type->map_key()->cpp_type() != Field::CPPTYPE_STRING ||
          type->map_value()->cpp_type() != Field::CPPTYPE_STRING) {
        continue;
      }
      const std::string key = entry.GetReflection()->GetString(entry, type->map_key());
      VisitText(key, Below(path, key));
      VisitText(entry.GetReflection()->GetString(entry, type->map_value()), Below(path, key));
    }
  }

  void VisitItem(const pb::Message& message, const Field& field, int index,
                 const std::string& path) {
    const pb::Reflection* reflection = message.GetReflection();
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
      Visit(reflection->GetRepeatedMessage(message, &field, index), path);
    } else if (field.cpp_type() == Field::CPPTYPE_STRING) {
      VisitText(reflection->GetRepeatedString(message, &field, index), path);
    } else if (field.cpp_type() == Field::CPPTYPE_ENUM) {
      VisitEnum(field, reflection->GetRepeatedEnumValue(message, &field, index), path);
    }
  }

  void VisitSingle(const pb::Message& message, const Field& field, const std::string& path) {
    const pb::Reflection* reflection = message.GetReflection();
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
      Visit(reflection->GetMessage(message, &field), path);
    } else if (field.cpp_type() == Field::CPPTYPE_STRING) {
      VisitText(reflection->GetString(message, &field), path);
    } else if (field.cpp_type() == Field::CPPTYPE_ENUM) {
      VisitEnum(field, reflection->GetEnumValue(message, &field), path);
    }
  }

  void VisitEnum(const Field& field, int number, const std::string& path) {
    const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
    if (value == nullptr) {
      violations_.push_back(
          {path, Concat("has value ", number, ", which this release does not know")});
    } else if (IsNotYetSupported(*value)) {
      violations_.push_back({path, Concat(ShortName(*value), " ", kNotYetSupported)});
    }
  }

  void VisitText(std::string_view text, const std::string& path) {
    if (HasUnprintable(text)) violations_.push_back({path, "holds a control character"});
  }

  Violations& violations_;
};

}  // namespace

Violations CheckSupported(const pb::Message& message) {
  Violations violations;
  Walk(violations).Visit(message, "");
  return violations;
}

}  // namespace penstock::config
