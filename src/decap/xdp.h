// Puts the eBPF decapsulator on an interface, takes it off, and reads its counters. State lives in
// the kernel only: the program is attached by netlink and stays when the loader exits, and its maps
// are found again through the interface, so no bpffs mount is needed.
#ifndef PENSTOCK_SRC_DECAP_XDP_H_
#define PENSTOCK_SRC_DECAP_XDP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "decap_counters.h"

namespace penstock::decap {

// Native runs in the driver, before the kernel allocates anything; generic works on every interface
// and is slower.
enum class Mode : uint8_t { kNative, kGeneric };

// "native" or "generic", as the command line has it.
std::string ModeName(Mode mode);

// Why a call did nothing: one line that names the cause and the next step.
struct Failure {
  std::string message;
};

template <typename T>
using Result = std::variant<T, Failure>;

struct AttachOptions {
  // Unset: the mode of the program that is there already, else native.
  std::optional<Mode> mode;
  // Outer destinations to unwrap, at most DECAP_MAX_OUTER_ADDRESSES. Empty: any destination, as
  // long as the frame is addressed to the interface's MAC.
  std::vector<decap_address> outer_addresses;
};

struct Attached {
  Mode mode;
  bool replaced;       // our program was there before
  bool counters_kept;  // and its counters go on: it counted the same kinds
};

struct Counters {
  Mode mode;
  std::array<decap_counter, DECAP_KIND_COUNT> by_kind;  // indexed by decap_kind, summed over CPUs
};

// "192.0.2.1" or "2001:db8::1" as a map key; nothing when it is neither.
std::optional<decap_address> ParseAddress(const std::string& text);

// Attaches, or replaces our own program in one step: no packet meets an interface without one.
// Never replaces a foreign program. The interface's MAC is read now: attach again if it changes.
[[nodiscard]] Result<Attached> Attach(const std::string& interface, const AttachOptions& options);

// Removes our program; false when the interface has none. Refuses to remove a foreign one.
[[nodiscard]] Result<bool> Detach(const std::string& interface);

// The counters since our program was first attached.
[[nodiscard]] Result<Counters> ReadCounters(const std::string& interface);

}  // namespace penstock::decap

#endif  // PENSTOCK_SRC_DECAP_XDP_H_
