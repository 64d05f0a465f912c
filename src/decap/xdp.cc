#include "xdp.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "decap.skel.h"

namespace penstock::decap {
namespace {

// How our program is told from a foreign one: the names the kernel keeps of it and of its map.
constexpr std::string_view kProgramName = "penstock_decap";
constexpr std::string_view kCounterMapName = "decap_counters";

class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&&) = delete;
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct SkeletonDeleter {
  void operator()(decap_bpf* skeleton) const { decap_bpf::destroy(skeleton); }
};
using Skeleton = std::unique_ptr<decap_bpf, SkeletonDeleter>;

// The program on an interface.
struct Present {
  UniqueFd program;
  Mode mode;
  UniqueFd counters;  // valid if and only if the program is ours
};

uint32_t ModeFlag(Mode mode) {
  return mode == Mode::kNative ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
}

Failure Fail(const std::string& interface, const std::string& what) {
  return Failure{interface + ": " + what};
}

// `error` is a positive errno value.
Failure FailWith(const std::string& interface, const std::string& what, int error) {
  std::string text = what + ": " + strerror(error);
  if (error == EPERM) text += "; run it as root";
  return Fail(interface, text);
}

// The counter map among the program's maps, or an invalid descriptor.
UniqueFd FindCounterMap(int program_fd) {
  std::array<uint32_t, 16> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<uintptr_t>(ids.data());
  uint32_t length = sizeof(info);
  if (bpf_obj_get_info_by_fd(program_fd, &info, &length) != 0) return UniqueFd();
  if (info.name != kProgramName) return UniqueFd();
  for (uint32_t i = 0; i < info.nr_map_ids && i < ids.size(); ++i) {
    UniqueFd map(bpf_map_get_fd_by_id(ids[i]));
    bpf_map_info map_info{};
    length = sizeof(map_info);
    if (!map.valid() || bpf_obj_get_info_by_fd(map.get(), &map_info, &length) != 0) continue;
    if (map_info.name == kCounterMapName) return map;
  }
  return UniqueFd();
}

Result<int> FindInterface(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) return Fail(interface, "no such interface; `ip link` lists them");
  return static_cast<int>(index);
}

Result<std::optional<Present>> FindPresent(const std::string& interface, int index) {
  bpf_xdp_query_opts query{};
  query.sz = sizeof(query);
  if (const int error = bpf_xdp_query(index, 0, &query); error != 0) {
    return FailWith(interface, "cannot ask the kernel for the XDP program", -error);
  }
  if (query.attach_mode == XDP_ATTACHED_NONE) return std::optional<Present>();
  if (query.attach_mode == XDP_ATTACHED_HW || query.attach_mode == XDP_ATTACHED_MULTI) {
    return Fail(interface, "has an XDP program in the NIC; remove it first (`ip link show`)");
  }
  UniqueFd program(bpf_prog_get_fd_by_id(query.prog_id));
  if (!program.valid()) return FailWith(interface, "cannot open its XDP program", errno);
  UniqueFd counters = FindCounterMap(program.get());
  const Mode mode = query.attach_mode == XDP_ATTACHED_SKB ? Mode::kGeneric : Mode::kNative;
  return std::optional<Present>(Present{std::move(program), mode, std::move(counters)});
}

Failure Foreign(const std::string& interface, const Present& present) {
  bpf_prog_info info{};
  uint32_t length = sizeof(info);
  const int error = bpf_obj_get_info_by_fd(present.program.get(), &info, &length);
  const std::string name = error == 0 ? info.name : "unknown";
  return Fail(interface, "has another XDP program (\"" + name +
                             "\"), left as it is; if it may go: `ip link set dev " + interface +
                             " xdp off`");
}

// An interface and our program on it, if it has one.
struct Target {
  int index;
  std::optional<Present> present;
};

// Fails when the interface has a foreign program.
Result<Target> FindTarget(const std::string& interface) {
  libbpf_set_print(nullptr);  // failures are told in our own words
  auto index = FindInterface(interface);
  if (auto* failure = std::get_if<Failure>(&index)) return *failure;
  auto found = FindPresent(interface, std::get<int>(index));
  if (auto* failure = std::get_if<Failure>(&found)) return *failure;
  auto& present = std::get<std::optional<Present>>(found);
  if (present && !present->counters.valid()) return Foreign(interface, *present);
  return Target{std::get<int>(index), std::move(present)};
}

// The kernel compares with what was seen by FindTarget, so that a program attached since is not
// lost.
bpf_xdp_attach_opts Expecting(const std::optional<Present>& present) {
  bpf_xdp_attach_opts expected{};
  // Up to the last field: libbpf wants the padding behind it zero, and a copy need not keep it so.
  expected.sz = offsetof(bpf_xdp_attach_opts, old_prog_fd) + sizeof(expected.old_prog_fd);
  if (present) expected.old_prog_fd = present->program.get();
  return expected;
}

bool ReadMac(const std::string& interface, uint8_t* mac) {
  UniqueFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(socket_fd.get(), SIOCGIFHWADDR, &request) != 0) return false;
  memcpy(mac, request.ifr_hwaddr.sa_data, 6);
  return true;
}

// Counters outlive a replaced program, unless another version of it counted other kinds: then, or
// when they cannot be taken over, the new program starts from zero, which is better than none.
bool KeepCounters(decap_bpf* skeleton, const Present& present) {
  bpf_map_info info{};
  uint32_t length = sizeof(info);
  const int fd = present.counters.get();
  if (bpf_obj_get_info_by_fd(fd, &info, &length) != 0) return false;
  if (info.max_entries != DECAP_KIND_COUNT || info.value_size != sizeof(decap_counter)) {
    return false;
  }
  return bpf_map__reuse_fd(skeleton->maps.decap_counters, fd) == 0;
}

struct Loaded {
  Skeleton skeleton;
  bool counters_kept;
};

Result<Loaded> Load(const std::string& interface, const AttachOptions& options,
                    const std::optional<Present>& present) {
  Skeleton skeleton(decap_bpf::open());
  if (!skeleton) return FailWith(interface, "cannot open the embedded eBPF program", errno);
  if (!ReadMac(interface, const_cast<uint8_t*>(skeleton->rodata->host_mac))) {
    return FailWith(interface, "cannot read its MAC address", errno);
  }
  skeleton->rodata->restrict_outer = options.outer_addresses.empty() ? 0 : 1;
  const bool counters_kept = present && KeepCounters(skeleton.get(), *present);
  if (const int error = decap_bpf::load(skeleton.get()); error != 0) {
    return FailWith(interface,
                    "the kernel does not take the eBPF program (needs Linux 5.7 with BTF)", -error);
  }
  const int map = bpf_map__fd(skeleton->maps.outer_addresses);
  for (const decap_address& address : options.outer_addresses) {
    const uint8_t wanted = 1;
    if (bpf_map_update_elem(map, &address, &wanted, BPF_ANY) != 0) {
      return FailWith(interface, "cannot store an outer address", errno);
    }
  }
  return Loaded{std::move(skeleton), counters_kept};
}

Failure AttachFailure(const std::string& interface, Mode mode, int error) {
  if (mode == Mode::kNative && (error == EOPNOTSUPP || error == EINVAL || error == ERANGE)) {
    return FailWith(interface, "native XDP refused by the driver (see dmesg); try --mode generic",
                    error);
  }
  if (error == EEXIST) {
    return Fail(interface, "another program attached at the same time; run it again");
  }
  return FailWith(interface, "cannot attach in " + ModeName(mode) + " mode", error);
}

}  // namespace

std::string ModeName(Mode mode) {
  return mode == Mode::kNative ? "native" : "generic";
}

std::optional<decap_address> ParseAddress(const std::string& text) {
  decap_address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.bytes) == 1) return address;
  address = {};
  address.bytes[10] = address.bytes[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), &address.bytes[12]) == 1) return address;
  return std::nullopt;
}

Result<Attached> Attach(const std::string& interface, const AttachOptions& options) {
  auto found = FindTarget(interface);
  if (auto* failure = std::get_if<Failure>(&found)) return *failure;
  const auto& [index, present] = std::get<Target>(found);
  const Mode mode = options.mode.value_or(present ? present->mode : Mode::kNative);
  if (present && present->mode != mode) {
    return Fail(interface, "attached in " + ModeName(present->mode) +
                               " mode; to change it: `penstock-decap detach " + interface +
                               "`, then attach again");
  }
  auto result = Load(interface, options, present);
  if (auto* failure = std::get_if<Failure>(&result)) return *failure;
  const auto& [skeleton, counters_kept] = std::get<Loaded>(result);

  const bpf_xdp_attach_opts expected = Expecting(present);
  const uint32_t how = present ? XDP_FLAGS_REPLACE : XDP_FLAGS_UPDATE_IF_NOEXIST;
  const int program = bpf_program__fd(skeleton->progs.penstock_decap);
  const int error = bpf_xdp_attach(index, program, how | ModeFlag(mode), &expected);
  if (error != 0) return AttachFailure(interface, mode, -error);
  return Attached{mode, present.has_value(), counters_kept};
}

Result<bool> Detach(const std::string& interface) {
  auto found = FindTarget(interface);
  if (auto* failure = std::get_if<Failure>(&found)) return *failure;
  const auto& [index, present] = std::get<Target>(found);
  if (!present) return false;
  const bpf_xdp_attach_opts expected = Expecting(present);
  const uint32_t flags = ModeFlag(present->mode) | XDP_FLAGS_REPLACE;
  if (const int error = bpf_xdp_detach(index, flags, &expected); error != 0) {
    return FailWith(interface, "cannot detach", -error);
  }
  return true;
}

Result<Counters> ReadCounters(const std::string& interface) {
  auto found = FindTarget(interface);
  if (auto* failure = std::get_if<Failure>(&found)) return *failure;
  const auto& present = std::get<Target>(found).present;
  if (!present) {
    return Fail(interface, "not attached; attach with `penstock-decap attach " + interface + "`");
  }
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return FailWith(interface, "cannot count the CPUs", -cpus);
  Counters counters{present->mode, {}};
  std::vector<decap_counter> per_cpu(static_cast<size_t>(cpus));
  for (uint32_t kind = 0; kind < DECAP_KIND_COUNT; ++kind) {
    if (bpf_map_lookup_elem(present->counters.get(), &kind, per_cpu.data()) != 0) {
      return FailWith(
          interface, "cannot read the counters (attached by another version? attach again)", errno);
    }
    for (const decap_counter& one : per_cpu) {
      counters.by_kind[kind].packets += one.packets;
      counters.by_kind[kind].bytes += one.bytes;
    }
  }
  return counters;
}

}  // namespace penstock::decap
