// The outer IP header: whether it is ours, and whether it is valid.
#ifndef PENSTOCK_SRC_DECAP_OUTER_BPF_H_
#define PENSTOCK_SRC_DECAP_OUTER_BPF_H_

#include "checksum.bpf.h"
#include "packet.bpf.h"
#include "tunnel.bpf.h"

// Set by the loader before the program is loaded, constant afterwards.
const volatile __u8 restrict_outer;  // 1: only destinations in outer_addresses are unwrapped

// Written: the loader before it attaches. Read: this program.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, DECAP_MAX_OUTER_ADDRESSES);
  __type(key, struct decap_address);
  __type(value, __u8);
} outer_addresses SEC(".maps");

enum { IPV4_MF = 0x2000, IPV4_OFFSET = 0x1fff, IPV6_FRAGMENT_OFFSET = 0xfff8 };

struct fragment_header {  // RFC 8200 section 4.5
  __u8 next_header;
  __u8 reserved;
  __be16 offset_and_flags;
  __be32 id;
};

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

// The kernel never sees the outer header, so its checks (RFC 1122 section 3.2.1) are made here.
ALWAYS_INLINE enum outer_class read_outer_v4(const struct iphdr* ip, const void* end,
                                             struct outer* outer) {
  // Nothing that ends inside its fixed header is a packet, whatever it would have carried.
  if ((const void*)(ip + 1) > end) return BROKEN_TUNNEL;
  if (!is_tunnel_protocol(ip->protocol)) return NOT_A_TUNNEL;
  outer->version = 4;
  outer->ip_bytes = ip->ihl * 4;
  outer->total_bytes = bpf_ntohs(ip->tot_len);
  outer->ecn = ip->tos & ECN_MASK;
  int has_tunnel_header = ip->ihl >= 5 && !(ip->frag_off & bpf_htons(IPV4_OFFSET));
  enum outer_class tunnel = read_tunnel(ip->protocol, has_tunnel_header, ip, end, outer);
  if (tunnel == NOT_A_TUNNEL || !is_outer_address_v4(ip->daddr)) return NOT_A_TUNNEL;
  if (ip->version != 4 || ip->ihl < 5) return BROKEN_TUNNEL;
  // A fragment holds a part of an inner packet: penstock sends DF=1, so somebody else made it.
  if (ip->frag_off & bpf_htons(IPV4_MF | IPV4_OFFSET)) return BROKEN_TUNNEL;
  return tunnel == TUNNEL && has_valid_header_checksum(ip, end) ? TUNNEL : BROKEN_TUNNEL;
}

// Extension headers are not walked, apart from recognizing a fragment: penstock writes none, and a
// packet that has them belongs to another tunnel.
ALWAYS_INLINE enum outer_class read_outer_v6(const struct ipv6hdr* ip, const void* end,
                                             struct outer* outer) {
  if ((const void*)(ip + 1) > end) return BROKEN_TUNNEL;
  __u8 protocol = ip->nexthdr;
  int has_tunnel_header = 1;
  outer->ip_bytes = sizeof(*ip);
  if (protocol == IPPROTO_FRAGMENT) {
    const struct fragment_header* fragment = (const void*)(ip + 1);
    if ((const void*)(fragment + 1) > end) return NOT_A_TUNNEL;
    protocol = fragment->next_header;
    has_tunnel_header = !(fragment->offset_and_flags & bpf_htons(IPV6_FRAGMENT_OFFSET));
    outer->ip_bytes += sizeof(*fragment);
  }
  if (!is_tunnel_protocol(protocol)) return NOT_A_TUNNEL;
  outer->version = 6;
  outer->total_bytes = sizeof(*ip) + bpf_ntohs(ip->payload_len);
  outer->ecn = (ip->flow_lbl[0] >> 4) & ECN_MASK;  // the low bits of the traffic class
  enum outer_class tunnel = read_tunnel(protocol, has_tunnel_header, ip, end, outer);
  if (tunnel == NOT_A_TUNNEL || !is_outer_address_v6(&ip->daddr)) return NOT_A_TUNNEL;
  if (ip->version != 6 || ip->nexthdr == IPPROTO_FRAGMENT) return BROKEN_TUNNEL;
  return tunnel;
}

ALWAYS_INLINE enum outer_class read_outer(const struct ethhdr* eth, const void* end,
                                          struct outer* outer) {
  if (eth->h_proto == bpf_htons(ETH_P_IP)) return read_outer_v4((void*)(eth + 1), end, outer);
  if (eth->h_proto == bpf_htons(ETH_P_IPV6)) return read_outer_v6((void*)(eth + 1), end, outer);
  return NOT_A_TUNNEL;
}

#endif  // PENSTOCK_SRC_DECAP_OUTER_BPF_H_
