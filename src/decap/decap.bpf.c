// The backend's end of the tunnel: takes the outer headers off what a penstock host sent (IP-in-IP,
// GRE, or GUE over UDP) and hands the inner packet to the kernel on the same interface, so that
// neither a tunnel module nor a tunnel device is needed. Runs at XDP, before the kernel has looked
// at the packet; the kernel judges the inner packet like any other that arrives.
//
// A tunnel packet for this host that cannot be unwrapped is dropped, not passed: the kernel could
// only answer "protocol unreachable", at the sender's pace. Which packets are ours, and which are
// left to a tunnel of the operator's own: packet.bpf.h and tunnel.bpf.h. A GRE or GUE tunnel that
// looks exactly like penstock's can share the interface if penstock has outer addresses of its own
// and the loader is told them.
//
// Not for tunnels whose other end is a virtual device on the same machine: a checksum that its
// sender left to the device is not there yet when it gets here, and is taken for wrong.

#include "inner.bpf.h"
#include "outer.bpf.h"
#include "packet.bpf.h"

// Set by the loader before the program is loaded, constant afterwards.
const volatile __u8 host_mac[ETH_ALEN];

// Written: this program, each CPU its own copy. Read: the loader, which finds it by its name.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, DECAP_KIND_COUNT);
  __type(key, __u32);
  __type(value, struct decap_counter);
} decap_counters SEC(".maps");

ALWAYS_INLINE void count(__u32 kind, __u64 bytes) {
  struct decap_counter* counter = bpf_map_lookup_elem(&decap_counters, &kind);
  if (!counter) return;
  counter->packets++;
  counter->bytes += bytes;
}

// Cuts the padding off the end and `header_bytes` out of the front, keeping the MAC addresses.
// Returns 0 when done. Invalidates every pointer into the packet.
ALWAYS_INLINE int strip(struct xdp_md* ctx, const struct ethhdr* eth, const struct outer* outer) {
  struct ethhdr kept = *eth;
  kept.h_proto = bpf_htons(outer->inner_version == 4 ? ETH_P_IP : ETH_P_IPV6);
  int frame_bytes = ctx->data_end - ctx->data;
  int wanted_bytes = ETH_HLEN + outer->total_bytes;
  if (wanted_bytes < frame_bytes && bpf_xdp_adjust_tail(ctx, wanted_bytes - frame_bytes)) return -1;
  if (bpf_xdp_adjust_head(ctx, outer->header_bytes)) return -1;
  struct ethhdr* moved = (void*)(long)ctx->data;
  if ((void*)(moved + 1) > (void*)(long)ctx->data_end) return -1;
  *moved = kept;
  return 0;
}

// Frames for other hosts (a promiscuous interface, multicast) are not ours to unwrap.
ALWAYS_INLINE int is_for_this_host(const struct ethhdr* eth) {
  for (int i = 0; i < ETH_ALEN; i++) {
    if (eth->h_dest[i] != host_mac[i]) return 0;
  }
  return 1;
}

ALWAYS_INLINE int is_dropped(enum decap_kind kind) {
  return kind == DECAP_MALFORMED || kind == DECAP_ECN_DROP;
}

ALWAYS_INLINE enum decap_kind handle(struct xdp_md* ctx) {
  struct ethhdr* eth = (void*)(long)ctx->data;
  void* end = (void*)(long)ctx->data_end;
  if ((void*)(eth + 1) > end || !is_for_this_host(eth)) return DECAP_PASSED;
  void* ip = eth + 1;
  struct outer outer = {};
  enum outer_class outer_class = read_outer(eth, end, &outer);
  if (outer_class == NOT_A_TUNNEL) return DECAP_PASSED;
  if (outer_class == BROKEN_TUNNEL || outer.total_bytes > end - ip) return DECAP_MALFORMED;
  if (outer.has_udp_checksum && !has_valid_udp_checksum(ip, end, &outer)) return DECAP_MALFORMED;
  enum decap_kind kind =
      settle_inner(behind(ip, outer.header_bytes, HEADER_BYTES_MASK), end, &outer);
  if (is_dropped(kind)) return kind;
  return strip(ctx, eth, &outer) ? DECAP_MALFORMED : kind;
}

SEC("xdp")
int penstock_decap(struct xdp_md* ctx) {
  __u64 frame_bytes = ctx->data_end - ctx->data;
  enum decap_kind kind = handle(ctx);
  count(kind, frame_bytes);
  return is_dropped(kind) ? XDP_DROP : XDP_PASS;
}

// The kernel asks for a licence string; no helper used here is reserved to GPL programs.
const char license_name[] SEC("license") = "Apache-2.0";
