// The inner packet: checked as far as it is read here, and given the outer header's ECN mark.
#ifndef PENSTOCK_SRC_DECAP_INNER_BPF_H_
#define PENSTOCK_SRC_DECAP_INNER_BPF_H_

#include "checksum.bpf.h"
#include "packet.bpf.h"

// RFC 6040 section 4.2, figure 4. Returns the ECN field the inner packet leaves with, or -1 when
// it must be dropped: an outer CE on a Not-ECT packet says "congested" to an end that would not
// understand the mark but does understand a loss.
ALWAYS_INLINE int ecn_after_decapsulation(__u8 outer, __u8 inner) {
  if (outer == ECN_CE) return inner == ECN_NOT_ECT ? -1 : ECN_CE;
  if (outer == ECN_ECT_1 && inner == ECN_ECT_0) return ECN_ECT_1;
  return inner;
}

// The kinds of an encapsulation follow one another in this order.
_Static_assert(DECAP_IPIP_6IN4 == DECAP_IPIP_4IN4 + 1 && DECAP_IPIP_4IN6 == DECAP_IPIP_4IN4 + 2 &&
                   DECAP_IPIP_6IN6 == DECAP_IPIP_4IN4 + 3,
               "ipip kinds");
_Static_assert(DECAP_GRE_6IN4 == DECAP_GRE_4IN4 + 1 && DECAP_GRE_4IN6 == DECAP_GRE_4IN4 + 2 &&
                   DECAP_GRE_6IN6 == DECAP_GRE_4IN4 + 3,
               "gre kinds");
_Static_assert(DECAP_GUE_6IN4 == DECAP_GUE_4IN4 + 1 && DECAP_GUE_4IN6 == DECAP_GUE_4IN4 + 2 &&
                   DECAP_GUE_6IN6 == DECAP_GUE_4IN4 + 3,
               "gue kinds");

ALWAYS_INLINE enum decap_kind unwrapped_kind(const struct outer* outer) {
  return outer->first_kind + (outer->inner_version == 6) + 2 * (outer->version == 6);
}

// The kind of a packet that is unwrapped, or why it is not.
ALWAYS_INLINE enum decap_kind settle_inner_v4(struct iphdr* ip, const void* end,
                                              const struct outer* outer) {
  if ((const void*)(ip + 1) > end || ip->version != 4) return DECAP_MALFORMED;
  if (outer->header_bytes + sizeof(*ip) > outer->total_bytes) return DECAP_MALFORMED;
  __u8 before = ip->tos & ECN_MASK;
  int after = ecn_after_decapsulation(outer->ecn, before);
  if (after < 0) return DECAP_ECN_DROP;
  if (after != before) set_ecn_v4(ip, after);
  return unwrapped_kind(outer);
}

ALWAYS_INLINE enum decap_kind settle_inner_v6(struct ipv6hdr* ip, const void* end,
                                              const struct outer* outer) {
  if ((const void*)(ip + 1) > end || ip->version != 6) return DECAP_MALFORMED;
  if (outer->header_bytes + sizeof(*ip) > outer->total_bytes) return DECAP_MALFORMED;
  __u8 before = (ip->flow_lbl[0] >> 4) & ECN_MASK;
  int after = ecn_after_decapsulation(outer->ecn, before);
  if (after < 0) return DECAP_ECN_DROP;
  ip->flow_lbl[0] = (ip->flow_lbl[0] & ~(ECN_MASK << 4)) | (after << 4);
  return unwrapped_kind(outer);
}

ALWAYS_INLINE enum decap_kind settle_inner(void* inner, const void* end,
                                           const struct outer* outer) {
  return outer->inner_version == 4 ? settle_inner_v4(inner, end, outer)
                                   : settle_inner_v6(inner, end, outer);
}

#endif  // PENSTOCK_SRC_DECAP_INNER_BPF_H_
