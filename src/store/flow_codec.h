// Saved flows as the bytes of flows.db.

#ifndef PENSTOCK_SRC_STORE_FLOW_CODEC_H_
#define PENSTOCK_SRC_STORE_FLOW_CODEC_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "penstock/lb/saved_flow.h"

namespace penstock::store {

// All numbers little-endian, nothing padded:
//   8 bytes "PENFLOWS", u32 version, i64 time in Unix seconds
//   u32 number of services; each a name
//   u32 number of backends; each the name of its pool, u8 family (4, 6), 4 or 16 bytes of address
//   u64 number of flows; each
//     u8 kind: bit 0 IPv6, bit 1 confirmed; u8 protocol
//     u16 source port, u16 destination port, u32 service, u32 backend, u32 idle seconds,
//     source and destination, 4 or 16 bytes each
//   u64 CRC-64/XZ of everything before it
// A name is u16 length and bytes. A v4 flow has 26 bytes, a v6 flow 50.
inline constexpr uint32_t kFlowFileVersion = 1;

// INVALID_ARGUMENT: an index that names nothing, a flow of two families, a name that is too long.
[[nodiscard]] absl::StatusOr<std::string> EncodeFlows(const lb::SavedFlows& flows);

// Any bytes are safe. What is accepted encodes to the same bytes again. The message says what is
// wrong, without the file's name: DATA_LOSS damaged, FAILED_PRECONDITION another version.
[[nodiscard]] absl::StatusOr<lb::SavedFlows> DecodeFlows(std::string_view bytes);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_FLOW_CODEC_H_
