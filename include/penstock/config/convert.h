// Between protobuf messages and the plain structs.

#ifndef PENSTOCK_CONFIG_CONVERT_H_
#define PENSTOCK_CONFIG_CONVERT_H_

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"
#include "penstock/v1/config.pb.h"
#include "penstock/v1/host.pb.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace penstock::config {

// What in `message`, which may be any request, cannot be acted on: fields and values of parts not
// built yet, fields and values this release does not know, text with control characters. Every RPC
// checks its request with it: a setting that is ignored in silence is worse than an error.
[[nodiscard]] Violations CheckSupported(const google::protobuf::Message& message);

// Includes CheckSupported. Values that cannot be read (an address that is none) are violations, and
// keep their place in `config`, so that paths of later checks are right; `config` is complete only
// when nothing is returned. Values are not yet checked for sense: see validate.h.
[[nodiscard]] Violations FromProto(const v1::Config& message, ServicesConfig& config);
[[nodiscard]] Violations FromProto(const v1::HostConfig& message, HostConfig& config);

// FromProto and, when every value could be read or not, Validate: all mistakes of a configuration
// that came over the network.
[[nodiscard]] Violations FromProtoAndValidate(const v1::Config& message, ServicesConfig& config);

// Everything is written, defaults included, except what is absent (state, icmp_echo,
// outer_source_prefix, state_dir) and the UDP checksum where it is the default and there is no GUE.
[[nodiscard]] v1::Config ToProto(const ServicesConfig& config);
[[nodiscard]] v1::HostConfig ToProto(const HostConfig& config);
[[nodiscard]] v1::Service ToProto(const Service& service);
[[nodiscard]] v1::Backend ToProto(const Backend& backend);
[[nodiscard]] v1::AdminState ToProto(AdminState state);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_CONVERT_H_
