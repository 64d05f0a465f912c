// What the parts of the eBPF program share: types, and how to reach into a packet.
#ifndef PENSTOCK_SRC_DECAP_PACKET_BPF_H_
#define PENSTOCK_SRC_DECAP_PACKET_BPF_H_

// libbpf's headers use the kernel's types without including them: the order matters.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "decap_counters.h"

#define ALWAYS_INLINE static __always_inline

enum { ECN_NOT_ECT = 0, ECN_ECT_1 = 1, ECN_ECT_0 = 2, ECN_CE = 3, ECN_MASK = 3 };

// Ours is what says so in full: by the outer protocol, for GUE by the port, and by a tunnel header
// of the form penstock writes. A packet that cannot be read that far, or says another thing,
// belongs to the kernel or to another tunnel on this interface. What says so and then breaks a rule
// is broken.
enum outer_class { NOT_A_TUNNEL, BROKEN_TUNNEL, TUNNEL };

// What the headers in front of the inner packet say. Lengths count from the end of the Ethernet
// header.
struct outer {
  __u32 ip_bytes;      // the outer IP header, its options included
  __u32 header_bytes;  // all in front of the inner packet: IP, then GRE or UDP and GUE
  __u32 total_bytes;   // header and inner packet, without Ethernet padding
  __u32 first_kind;    // the encapsulation: the first of its four kinds
  __u8 version;
  __u8 inner_version;
  __u8 ecn;
  __u8 has_udp_checksum;
};

// REQUIRES: `bytes` is at most `mask`, a power of two less one. The verifier of older kernels
// forgets the bounds of a number it has kept on the stack; the mask says them again. The empty asm
// keeps clang, which knows the bounds, from taking the mask out.
ALWAYS_INLINE void* behind(const void* start, __u32 bytes, __u32 mask) {
  asm volatile("" : "+r"(bytes));
  return (void*)start + (bytes & mask);
}

enum { HEADER_BYTES_MASK = 0x7f };  // 60 of IPv4 with options, 8 of UDP, 4 of GUE: 72 at most

#endif  // PENSTOCK_SRC_DECAP_PACKET_BPF_H_
