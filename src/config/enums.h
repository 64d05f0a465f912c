// Which protobuf value is which struct value. A value that is not yet supported is in no table.

#ifndef PENSTOCK_SRC_CONFIG_ENUMS_H_
#define PENSTOCK_SRC_CONFIG_ENUMS_H_

#include <array>
#include <utility>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/v1/config.pb.h"
#include "penstock/v1/host.pb.h"

namespace penstock::config {

template <typename Proto, typename Plain, std::size_t kSize>
using EnumTable = std::array<std::pair<Proto, Plain>, kSize>;

inline constexpr EnumTable<v1::AdminState, AdminState, 3> kAdminStates{
    {{v1::ADMIN_STATE_ACTIVE, AdminState::kActive},
     {v1::ADMIN_STATE_DRAINING, AdminState::kDraining},
     {v1::ADMIN_STATE_DISABLED, AdminState::kDisabled}}};

inline constexpr EnumTable<v1::Protocol, Protocol, 2> kProtocols{
    {{v1::PROTOCOL_TCP, Protocol::kTcp}, {v1::PROTOCOL_UDP, Protocol::kUdp}}};

inline constexpr EnumTable<v1::Encapsulation, Encapsulation, 4> kEncapsulations{
    {{v1::ENCAPSULATION_IPIP, Encapsulation::kIpip},
     {v1::ENCAPSULATION_GRE, Encapsulation::kGre},
     {v1::ENCAPSULATION_GUE, Encapsulation::kGue},
     {v1::ENCAPSULATION_L2, Encapsulation::kL2}}};

inline constexpr EnumTable<v1::IcmpEcho, IcmpEcho, 3> kIcmpEchos{
    {{v1::ICMP_ECHO_REPLY, IcmpEcho::kReply},
     {v1::ICMP_ECHO_FORWARD, IcmpEcho::kForward},
     {v1::ICMP_ECHO_DROP, IcmpEcho::kDrop}}};

inline constexpr EnumTable<v1::Fragments, Fragments, 2> kFragments{
    {{v1::FRAGMENTS_STEER, Fragments::kSteer}, {v1::FRAGMENTS_DROP, Fragments::kDrop}}};

inline constexpr EnumTable<v1::Tracking, Tracking, 3> kTrackings{
    {{v1::TRACKING_FULL, Tracking::kFull},
     {v1::TRACKING_TRANSITION_ONLY, Tracking::kTransitionOnly},
     {v1::TRACKING_NONE, Tracking::kNone}}};

inline constexpr EnumTable<v1::GueUdpChecksum, GueUdpChecksum, 2> kGueUdpChecksums{
    {{v1::GUE_UDP_CHECKSUM_COMPUTED, GueUdpChecksum::kComputed},
     {v1::GUE_UDP_CHECKSUM_ZERO, GueUdpChecksum::kZero}}};

inline constexpr EnumTable<v1::HashKind, HashKind, 3> kHashKinds{
    {{v1::HASH_KIND_FIVE_TUPLE, HashKind::kFiveTuple},
     {v1::HASH_KIND_SOURCE_ADDRESS, HashKind::kSourceAddress},
     {v1::HASH_KIND_SOURCE_ADDRESS_PORT, HashKind::kSourceAddressPort}}};

inline constexpr EnumTable<v1::OnNoBackend, OnNoBackend, 2> kOnNoBackends{
    {{v1::ON_NO_BACKEND_DROP, OnNoBackend::kDrop},
     {v1::ON_NO_BACKEND_USE_ALL, OnNoBackend::kUseAll}}};

inline constexpr EnumTable<v1::LogLevel, LogLevel, 5> kLogLevels{
    {{v1::LOG_LEVEL_TRACE, LogLevel::kTrace},
     {v1::LOG_LEVEL_DEBUG, LogLevel::kDebug},
     {v1::LOG_LEVEL_INFO, LogLevel::kInfo},
     {v1::LOG_LEVEL_WARN, LogLevel::kWarn},
     {v1::LOG_LEVEL_ERROR, LogLevel::kError}}};

inline constexpr EnumTable<v1::LogFormat, LogFormat, 1> kLogFormats{
    {{v1::LOG_FORMAT_TEXT, LogFormat::kText}}};

// Leaves `plain` alone when `proto` is unspecified or in no table.
template <typename Proto, typename Plain, std::size_t kSize>
void ReadEnum(const EnumTable<Proto, Plain, kSize>& table, Proto proto, Plain& plain) {
  for (const auto& [from, to] : table) {
    if (from == proto) plain = to;
  }
}

template <typename Proto, typename Plain, std::size_t kSize>
[[nodiscard]] Proto WriteEnum(const EnumTable<Proto, Plain, kSize>& table, Plain plain) {
  for (const auto& [to, from] : table) {
    if (from == plain) return to;
  }
  return Proto{};
}

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_ENUMS_H_
