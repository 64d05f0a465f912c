// What the eBPF program counts and its loader reads: one header, so that the two cannot disagree.
// Plain C, because the program is C.
#ifndef PENSTOCK_SRC_DECAP_DECAP_COUNTERS_H_
#define PENSTOCK_SRC_DECAP_DECAP_COUNTERS_H_

#include <linux/types.h>

// Every frame that arrives is counted once, under exactly one kind. The kind also decides what
// becomes of it: the ipip, gre and gue kinds go to the kernel unwrapped, `passed` goes to the
// kernel as it came, the two others are dropped. Append only: the value is the index in the
// counter map.
enum decap_kind {
  DECAP_IPIP_4IN4,  // inner IPv4 in outer IPv4
  DECAP_IPIP_6IN4,  // inner IPv6 in outer IPv4
  DECAP_IPIP_4IN6,  // inner IPv4 in outer IPv6
  DECAP_IPIP_6IN6,  // inner IPv6 in outer IPv6
  DECAP_MALFORMED,  // claims to be a tunnel packet for this host, but cannot be one
  DECAP_ECN_DROP,   // congestion was marked on a packet that cannot carry the mark
  DECAP_PASSED,     // not a tunnel packet for this host
  DECAP_GRE_4IN4,   // as the ipip kinds, behind a GRE header
  DECAP_GRE_6IN4,
  DECAP_GRE_4IN6,
  DECAP_GRE_6IN6,
  DECAP_GUE_4IN4,  // as the ipip kinds, behind UDP and GUE headers
  DECAP_GUE_6IN4,
  DECAP_GUE_4IN6,
  DECAP_GUE_6IN6,
  DECAP_KIND_COUNT,
};

// One per kind and CPU; written by the program on that CPU only, summed by the reader.
struct decap_counter {
  __u64 packets;
  __u64 bytes;  // of the frames as received: Ethernet header and padding included, FCS not
};

// One key for both families: an IPv4 address is held as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2).
struct decap_address {
  __u8 bytes[16];
};

enum { DECAP_MAX_OUTER_ADDRESSES = 64 };

#endif  // PENSTOCK_SRC_DECAP_DECAP_COUNTERS_H_
