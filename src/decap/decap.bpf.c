// The backend's end of the tunnel: takes the outer IP header off what a penstock host sent and
// hands the inner packet to the kernel on the same interface, so that neither a tunnel module nor
// a tunnel device is needed. Runs at XDP, before the kernel has looked at the packet; the kernel
// judges the inner packet like any other that arrives.
//
// A tunnel packet for this host that cannot be unwrapped is dropped, not passed: the kernel could
// only answer "protocol unreachable", at the sender's pace.

// libbpf's headers use the kernel's types without including them: the order matters.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "decap_counters.h"

#define ALWAYS_INLINE static __always_inline

// Set by the loader before the program is loaded, constant afterwards.
const volatile __u8 host_mac[ETH_ALEN];
const volatile __u8 restrict_outer;  // 1: only destinations in outer_addresses are unwrapped

// Written: this program, each CPU its own copy. Read: the loader, which finds it by its name.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, DECAP_KIND_COUNT);
  __type(key, __u32);
  __type(value, struct decap_counter);
} decap_counters SEC(".maps");

// Written: the loader before it attaches. Read: this program.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, DECAP_MAX_OUTER_ADDRESSES);
  __type(key, struct decap_address);
  __type(value, __u8);
} outer_addresses SEC(".maps");

enum { ECN_NOT_ECT = 0, ECN_ECT_1 = 1, ECN_ECT_0 = 2, ECN_CE = 3, ECN_MASK = 3 };
enum { IPV4_DF = 0x4000, IPV4_RESERVED = 0x8000 };

enum outer_class { NOT_A_TUNNEL, BROKEN_TUNNEL, TUNNEL };

// What a valid outer header says. Lengths count from the end of the Ethernet header.
struct outer {
  __u32 header_bytes;
  __u32 total_bytes;  // header and payload, without Ethernet padding
  __u8 version;
  __u8 protocol;
  __u8 ecn;
};

struct fragment_header {  // RFC 8200 section 4.5
  __u8 next_header;
  __u8 reserved;
  __be16 offset_and_flags;
  __be32 id;
};

ALWAYS_INLINE void count(__u32 kind, __u64 bytes) {
  struct decap_counter* counter = bpf_map_lookup_elem(&decap_counters, &kind);
  if (!counter) return;
  counter->packets++;
  counter->bytes += bytes;
}

ALWAYS_INLINE int is_tunnel_protocol(__u8 protocol) {
  return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6;
}

ALWAYS_INLINE int is_outer_address_v4(__be32 address) {
  if (!restrict_outer) return 1;
  struct decap_address key = {.bytes = {[10] = 0xff, [11] = 0xff}};
  __builtin_memcpy(&key.bytes[12], &address, sizeof(address));
  return bpf_map_lookup_elem(&outer_addresses, &key) != 0;
}

ALWAYS_INLINE int is_outer_address_v6(const struct in6_addr* address) {
  if (!restrict_outer) return 1;
  struct decap_address key;
  __builtin_memcpy(&key, address, sizeof(key));
  return bpf_map_lookup_elem(&outer_addresses, &key) != 0;
}

// RFC 1071: a header whose checksum is right sums to all ones. Options are part of the sum.
ALWAYS_INLINE int has_valid_checksum(const struct iphdr* ip, const void* end) {
  const __u16* word = (const void*)ip;
  __u32 count_of_words = ip->ihl * 2;
  __u32 sum = 0;
  for (__u32 i = 0; i < 30; i++, word++) {
    if (i >= count_of_words) break;
    // Else clang compares with `end - 2`, and the verifier refuses arithmetic on the packet's end.
    asm volatile("" : "+r"(word));
    if ((const void*)(word + 1) > end) return 0;
    sum += *word;
  }
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

// The kernel never sees the outer header, so its checks (RFC 1122 section 3.2.1) are made here.
ALWAYS_INLINE enum outer_class read_outer_v4(const struct iphdr* ip, const void* end,
                                             struct outer* outer) {
  // Nothing that ends inside its fixed header is a packet, whatever it would have carried.
  if ((const void*)(ip + 1) > end) return BROKEN_TUNNEL;
  if (!is_tunnel_protocol(ip->protocol) || !is_outer_address_v4(ip->daddr)) return NOT_A_TUNNEL;
  if (ip->version != 4 || ip->ihl < 5) return BROKEN_TUNNEL;
  // A fragment holds a part of an inner packet: penstock sends DF=1, so somebody else made it.
  if (ip->frag_off & bpf_htons(~(IPV4_DF | IPV4_RESERVED) & 0xffff)) return BROKEN_TUNNEL;
  outer->version = 4;
  outer->header_bytes = ip->ihl * 4;
  outer->total_bytes = bpf_ntohs(ip->tot_len);
  outer->protocol = ip->protocol;
  outer->ecn = ip->tos & ECN_MASK;
  return has_valid_checksum(ip, end) ? TUNNEL : BROKEN_TUNNEL;
}

// Extension headers are not walked, apart from recognizing a fragment: penstock writes none, and a
// packet that has them belongs to another tunnel.
ALWAYS_INLINE enum outer_class read_outer_v6(const struct ipv6hdr* ip, const void* end,
                                             struct outer* outer) {
  if ((const void*)(ip + 1) > end) return BROKEN_TUNNEL;
  __u8 protocol = ip->nexthdr;
  if (protocol == IPPROTO_FRAGMENT) {
    const struct fragment_header* fragment = (const void*)(ip + 1);
    if ((const void*)(fragment + 1) > end) return NOT_A_TUNNEL;
    protocol = fragment->next_header;
  }
  if (!is_tunnel_protocol(protocol) || !is_outer_address_v6(&ip->daddr)) return NOT_A_TUNNEL;
  if (ip->version != 6 || ip->nexthdr == IPPROTO_FRAGMENT) return BROKEN_TUNNEL;
  outer->version = 6;
  outer->header_bytes = sizeof(*ip);
  outer->total_bytes = sizeof(*ip) + bpf_ntohs(ip->payload_len);
  outer->protocol = protocol;
  outer->ecn = (ip->flow_lbl[0] >> 4) & ECN_MASK;  // the low bits of the traffic class
  return TUNNEL;
}

// RFC 6040 section 4.2, figure 4. Returns the ECN field the inner packet leaves with, or -1 when
// it must be dropped: an outer CE on a Not-ECT packet says "congested" to an end that would not
// understand the mark but does understand a loss.
ALWAYS_INLINE int ecn_after_decapsulation(__u8 outer, __u8 inner) {
  if (outer == ECN_CE) return inner == ECN_NOT_ECT ? -1 : ECN_CE;
  if (outer == ECN_ECT_1 && inner == ECN_ECT_0) return ECN_ECT_1;
  return inner;
}

// RFC 1624 equation 3. The version and IHL share the 16-bit word with the TOS but cancel out.
ALWAYS_INLINE void set_ecn_v4(struct iphdr* ip, __u8 ecn) {
  __u8 tos = (ip->tos & ~ECN_MASK) | ecn;
  __u32 sum = (__u16)~ip->check + (__u16)~bpf_htons(ip->tos) + bpf_htons(tos);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  ip->check = ~sum;
  ip->tos = tos;
}

// Checks the inner header as far as it is read here, and carries the ECN mark over.
ALWAYS_INLINE enum decap_kind settle_inner_v4(struct iphdr* ip, const void* end,
                                              const struct outer* outer, enum decap_kind kind) {
  if ((const void*)(ip + 1) > end || ip->version != 4) return DECAP_MALFORMED;
  if (outer->header_bytes + sizeof(*ip) > outer->total_bytes) return DECAP_MALFORMED;
  __u8 before = ip->tos & ECN_MASK;
  int after = ecn_after_decapsulation(outer->ecn, before);
  if (after < 0) return DECAP_ECN_DROP;
  if (after != before) set_ecn_v4(ip, after);
  return kind;
}

ALWAYS_INLINE enum decap_kind settle_inner_v6(struct ipv6hdr* ip, const void* end,
                                              const struct outer* outer, enum decap_kind kind) {
  if ((const void*)(ip + 1) > end || ip->version != 6) return DECAP_MALFORMED;
  if (outer->header_bytes + sizeof(*ip) > outer->total_bytes) return DECAP_MALFORMED;
  __u8 before = (ip->flow_lbl[0] >> 4) & ECN_MASK;
  int after = ecn_after_decapsulation(outer->ecn, before);
  if (after < 0) return DECAP_ECN_DROP;
  ip->flow_lbl[0] = (ip->flow_lbl[0] & ~(ECN_MASK << 4)) | (after << 4);
  return kind;
}

// Cuts the padding off the end and `header_bytes` out of the front, keeping the MAC addresses.
// Returns 0 when done. Invalidates every pointer into the packet.
ALWAYS_INLINE int strip(struct xdp_md* ctx, const struct ethhdr* eth, const struct outer* outer,
                        __be16 ethertype) {
  struct ethhdr kept = *eth;
  kept.h_proto = ethertype;
  int frame_bytes = ctx->data_end - ctx->data;
  int wanted_bytes = ETH_HLEN + outer->total_bytes;
  if (wanted_bytes < frame_bytes && bpf_xdp_adjust_tail(ctx, wanted_bytes - frame_bytes)) return -1;
  if (bpf_xdp_adjust_head(ctx, outer->header_bytes)) return -1;
  struct ethhdr* moved = (void*)(long)ctx->data;
  if ((void*)(moved + 1) > (void*)(long)ctx->data_end) return -1;
  *moved = kept;
  return 0;
}

// Decides by the outer protocol what lies behind the outer header, and takes the header off.
ALWAYS_INLINE enum decap_kind unwrap(struct xdp_md* ctx, struct ethhdr* eth, void* end,
                                     const struct outer* outer) {
  void* payload = (void*)(eth + 1) + outer->header_bytes;
  enum decap_kind kind;
  __be16 ethertype;
  switch (outer->protocol) {
    case IPPROTO_IPIP:
      kind = outer->version == 4 ? DECAP_IPIP_4IN4 : DECAP_IPIP_4IN6;
      kind = settle_inner_v4(payload, end, outer, kind);
      ethertype = bpf_htons(ETH_P_IP);
      break;
    case IPPROTO_IPV6:
      kind = outer->version == 4 ? DECAP_IPIP_6IN4 : DECAP_IPIP_6IN6;
      kind = settle_inner_v6(payload, end, outer, kind);
      ethertype = bpf_htons(ETH_P_IPV6);
      break;
    default:
      return DECAP_PASSED;
  }
  if (kind == DECAP_MALFORMED || kind == DECAP_ECN_DROP) return kind;
  return strip(ctx, eth, outer, ethertype) ? DECAP_MALFORMED : kind;
}

// Frames for other hosts (a promiscuous interface, multicast) are not ours to unwrap.
ALWAYS_INLINE int is_for_this_host(const struct ethhdr* eth) {
  for (int i = 0; i < ETH_ALEN; i++) {
    if (eth->h_dest[i] != host_mac[i]) return 0;
  }
  return 1;
}

ALWAYS_INLINE enum decap_kind handle(struct xdp_md* ctx) {
  struct ethhdr* eth = (void*)(long)ctx->data;
  void* end = (void*)(long)ctx->data_end;
  if ((void*)(eth + 1) > end || !is_for_this_host(eth)) return DECAP_PASSED;
  struct outer outer = {};
  enum outer_class outer_class = NOT_A_TUNNEL;
  if (eth->h_proto == bpf_htons(ETH_P_IP)) {
    outer_class = read_outer_v4((void*)(eth + 1), end, &outer);
  } else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
    outer_class = read_outer_v6((void*)(eth + 1), end, &outer);
  }
  if (outer_class == NOT_A_TUNNEL) return DECAP_PASSED;
  if (outer_class == BROKEN_TUNNEL) return DECAP_MALFORMED;
  if (outer.total_bytes > end - (void*)(eth + 1)) return DECAP_MALFORMED;
  return unwrap(ctx, eth, end, &outer);
}

SEC("xdp")
int penstock_decap(struct xdp_md* ctx) {
  __u64 frame_bytes = ctx->data_end - ctx->data;
  enum decap_kind kind = handle(ctx);
  count(kind, frame_bytes);
  return kind == DECAP_MALFORMED || kind == DECAP_ECN_DROP ? XDP_DROP : XDP_PASS;
}

// The kernel asks for a licence string; no helper used here is reserved to GPL programs.
const char license_name[] SEC("license") = "Apache-2.0";
