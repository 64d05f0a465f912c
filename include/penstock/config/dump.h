// Configurations into the YAML that load.h reads.

#ifndef PENSTOCK_CONFIG_DUMP_H_
#define PENSTOCK_CONFIG_DUMP_H_

#include <string>

#include "penstock/config/services_config.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace penstock::config {

// The fields of `message` that are set, in the order of the schema, as YamlToProto reads them.
// Ends with a newline.
[[nodiscard]] std::string ProtoToYaml(const google::protobuf::Message& message);

// A services file: loading it gives `config` again. Empty lists are written as [].
[[nodiscard]] std::string DumpServicesConfig(const ServicesConfig& config);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_DUMP_H_
