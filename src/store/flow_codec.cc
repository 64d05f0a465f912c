#include "store/flow_codec.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "store/byte_stream.h"
#include "store/checksum.h"

namespace penstock::store {
namespace {

using lb::SavedBackend;
using lb::SavedFlow;
using lb::SavedFlows;
using net::Family;
using net::IpAddress;

constexpr std::string_view kMagic = "PENFLOWS";
constexpr uint8_t kIpv6 = 1;
constexpr uint8_t kConfirmed = 2;
// The least that one of each takes, so that a count cannot ask for more memory than its file has.
constexpr std::size_t kMinServiceBytes = 2;
constexpr std::size_t kMinBackendBytes = 2 + 1 + 4;
constexpr std::size_t kMinFlowBytes = 26;
constexpr std::size_t kMaxFlowBytes = 50;

uint64_t ChecksumOf(std::string_view bytes) {
  Checksum sum;
  sum.Add(bytes);
  return sum.value();
}

std::size_t BytesOf(Family family) {
  return family == Family::kIpv4 ? 4 : 16;
}

bool CanBeWritten(const SavedFlows& flows) {
  const auto fits = [](const std::string& name) {
    return name.size() <= std::numeric_limits<uint16_t>::max();
  };
  return std::ranges::all_of(flows.services, fits) &&
         std::ranges::all_of(flows.backends,
                             [&](const SavedBackend& backend) { return fits(backend.pool); }) &&
         std::ranges::all_of(flows.flows, [&](const SavedFlow& flow) {
           return flow.service < flows.services.size() && flow.backend < flows.backends.size() &&
                  flow.source.family == flow.destination.family;
         });
}

void PutName(ByteWriter& out, const std::string& name) {
  out.Put(static_cast<uint16_t>(name.size()));
  out.Put(std::string_view(name));
}

void PutFlow(ByteWriter& out, const SavedFlow& flow) {
  const bool v6 = flow.source.family == Family::kIpv6;
  out.Put(static_cast<uint8_t>((v6 ? kIpv6 : 0) | (flow.confirmed ? kConfirmed : 0)));
  out.Put(flow.protocol);
  out.Put(flow.source_port);
  out.Put(flow.destination_port);
  out.Put(flow.service);
  out.Put(flow.backend);
  out.Put(flow.idle_seconds);
  const std::size_t size = BytesOf(flow.source.family);
  out.Put(flow.source.bytes.data(), size);
  out.Put(flow.destination.bytes.data(), size);
}

std::string GetName(ByteReader& in) {
  return std::string(in.Take(in.Get<uint16_t>()));
}

IpAddress GetAddress(ByteReader& in, Family family) {
  IpAddress address{.family = family};
  in.Get(address.bytes.data(), BytesOf(family));
  return address;
}

SavedBackend GetBackend(ByteReader& in) {
  SavedBackend backend;
  backend.pool = GetName(in);
  const auto family = in.Get<uint8_t>();
  if (family != 4 && family != 6) in.Fail();
  backend.address = GetAddress(in, family == 4 ? Family::kIpv4 : Family::kIpv6);
  return backend;
}

SavedFlow GetFlow(ByteReader& in, const SavedFlows& names) {
  SavedFlow flow;
  const auto kind = in.Get<uint8_t>();
  flow.confirmed = (kind & kConfirmed) != 0;
  flow.protocol = in.Get<uint8_t>();
  flow.source_port = in.Get<uint16_t>();
  flow.destination_port = in.Get<uint16_t>();
  flow.service = in.Get<uint32_t>();
  flow.backend = in.Get<uint32_t>();
  flow.idle_seconds = in.Get<uint32_t>();
  const Family family = (kind & kIpv6) != 0 ? Family::kIpv6 : Family::kIpv4;
  flow.source = GetAddress(in, family);
  flow.destination = GetAddress(in, family);
  if (kind > (kIpv6 | kConfirmed) || flow.service >= names.services.size() ||
      flow.backend >= names.backends.size()) {
    in.Fail();
  }
  return flow;
}

// `get` once for each of the number that stands in front.
template <typename Count, typename T, typename GetOne>
void GetList(ByteReader& in, std::size_t min_bytes, std::vector<T>& list, GetOne get) {
  const auto count = in.Get<Count>();
  if (count > in.remaining() / min_bytes) return in.Fail();
  list.reserve(count);
  for (Count i = 0; i < count && in.ok(); ++i) list.push_back(get());
}

absl::Status CheckEnvelope(std::string_view bytes) {
  ByteReader start(bytes);
  if (start.Take(kMagic.size()) != kMagic) return absl::DataLossError("it is no flow file");
  const auto version = start.Get<uint32_t>();
  if (!start.ok() || start.remaining() < sizeof(uint64_t)) return absl::DataLossError("it is cut");
  const std::size_t covered = bytes.size() - sizeof(uint64_t);
  ByteReader end(bytes.substr(covered));
  if (end.Get<uint64_t>() != ChecksumOf(bytes.substr(0, covered))) {
    return absl::DataLossError("its checksum does not fit");
  }
  if (version != kFlowFileVersion) {
    return absl::FailedPreconditionError("version " + std::to_string(version) +
                                         ", this release knows " +
                                         std::to_string(kFlowFileVersion));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeFlows(const SavedFlows& flows) {
  if (!CanBeWritten(flows)) {
    return absl::InvalidArgumentError("flows that name nothing, or of two families");
  }
  ByteWriter out;
  out.Reserve(flows.flows.size() * kMaxFlowBytes);
  out.Put(kMagic);
  out.Put(kFlowFileVersion);
  out.Put(int64_t{flows.time.time_since_epoch().count()});
  out.Put(static_cast<uint32_t>(flows.services.size()));
  for (const std::string& service : flows.services) PutName(out, service);
  out.Put(static_cast<uint32_t>(flows.backends.size()));
  for (const SavedBackend& backend : flows.backends) {
    PutName(out, backend.pool);
    out.Put(static_cast<uint8_t>(backend.address.IsV4() ? 4 : 6));
    out.Put(backend.address.bytes.data(), BytesOf(backend.address.family));
  }
  out.Put(uint64_t{flows.flows.size()});
  for (const SavedFlow& flow : flows.flows) PutFlow(out, flow);
  out.Put(ChecksumOf(out.bytes()));
  return out.Take();
}

absl::StatusOr<SavedFlows> DecodeFlows(std::string_view bytes) {
  if (const absl::Status status = CheckEnvelope(bytes); !status.ok()) return status;
  ByteReader in(bytes.substr(0, bytes.size() - sizeof(uint64_t)));
  static_cast<void>(in.Take(kMagic.size() + sizeof(kFlowFileVersion)));
  SavedFlows flows;
  flows.time = std::chrono::sys_seconds(std::chrono::seconds(in.Get<int64_t>()));
  GetList<uint32_t>(in, kMinServiceBytes, flows.services, [&] { return GetName(in); });
  GetList<uint32_t>(in, kMinBackendBytes, flows.backends, [&] { return GetBackend(in); });
  GetList<uint64_t>(in, kMinFlowBytes, flows.flows, [&] { return GetFlow(in, flows); });
  if (!in.ok() || in.remaining() != 0) {
    return absl::DataLossError("its parts do not fit together");
  }
  return flows;
}

}  // namespace penstock::store
