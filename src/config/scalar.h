// One YAML scalar into one field of a message.

#ifndef PENSTOCK_SRC_CONFIG_SCALAR_H_
#define PENSTOCK_SRC_CONFIG_SCALAR_H_

#include <google/protobuf/message.h>

#include <string>

#include "config/yaml_tree.h"

namespace penstock::config {

// Whether the field's values (each of them, when repeated) are YAML scalars: everything but
// messages, and of these durations and port ranges.
[[nodiscard]] bool IsScalar(const google::protobuf::FieldDescriptor& field);

// Sets the field, or adds to it when it is repeated, and returns "". Otherwise returns what is
// wrong; a repeated field gets an empty value then, so that the indexes of the others are those of
// the text.
[[nodiscard]] std::string SetScalar(const YamlNode& node,
                                    const google::protobuf::FieldDescriptor& field,
                                    google::protobuf::Message& message);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_SCALAR_H_
