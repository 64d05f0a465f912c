// The tunnel header behind the outer IP header: none for IP-in-IP, GRE, or UDP and GUE. Only the
// forms penstock writes are ours; the others are left to whoever else has a tunnel here.
#ifndef PENSTOCK_SRC_DECAP_TUNNEL_BPF_H_
#define PENSTOCK_SRC_DECAP_TUNNEL_BPF_H_

#include "packet.bpf.h"

struct gre_header {  // RFC 2784 section 2.1, without the optional fields
  __be16 flags_and_version;
  __be16 protocol_type;
};

struct gue_header {  // draft-ietf-intarea-gue-09 section 3.1, without extension fields
  __u8 variant_control_hlen;
  __u8 protocol;
  __be16 flags;
};

enum { GUE_PORT = 6080 };
enum {
  GRE_CHECKSUM = 0x8000,     // RFC 2784 section 2.2
  GRE_KEY = 0x2000,          // RFC 2890 section 2.1
  GRE_SEQUENCE = 0x1000,     // RFC 2890 section 2.2
  GRE_BITS_1_TO_5 = 0x7c00,  // RFC 2784 section 2.3
  GRE_VERSION = 0x0007,      // RFC 2784 section 2.3.1
};

ALWAYS_INLINE int is_tunnel_protocol(__u8 protocol) {
  return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE ||
         protocol == IPPROTO_UDP;
}

// A header behind the outer IP header, or nothing when the packet ends before it does. Padding is
// not packet.
ALWAYS_INLINE const void* tunnel_header(const void* ip, const void* end, const struct outer* outer,
                                        __u32 bytes) {
  const void* header = behind(ip, outer->ip_bytes, HEADER_BYTES_MASK);
  if (header + bytes > end || outer->ip_bytes + bytes > outer->total_bytes) return 0;
  return header;
}

ALWAYS_INLINE enum outer_class read_gre(const void* ip, const void* end, struct outer* outer) {
  const struct gre_header* gre = tunnel_header(ip, end, outer, sizeof(*gre));
  if (!gre) return NOT_A_TUNNEL;
  // RFC 2784 section 3, RFC 7676 section 3.1: the Ethernet types of IPv4 and IPv6.
  if (gre->protocol_type == bpf_htons(ETH_P_IP)) {
    outer->inner_version = 4;
  } else if (gre->protocol_type == bpf_htons(ETH_P_IPV6)) {
    outer->inner_version = 6;
  } else {
    return NOT_A_TUNNEL;
  }
  // penstock writes none of these, so they tell a tunnel of the operator's own. The kernel is its
  // receiver, and accepts the checksum as RFC 2784 section 2.2 demands.
  if (gre->flags_and_version & bpf_htons(GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE)) {
    return NOT_A_TUNNEL;
  }
  // RFC 2784 section 2.3: discarded if any of bits 1-5 is set; section 2.3.1: the version is zero.
  // Bits 6-12 "MUST be ignored on receipt", and are.
  if (gre->flags_and_version & bpf_htons(GRE_BITS_1_TO_5 | GRE_VERSION)) return BROKEN_TUNNEL;
  outer->first_kind = DECAP_GRE_4IN4;
  outer->header_bytes = outer->ip_bytes + sizeof(*gre);
  return TUNNEL;
}

ALWAYS_INLINE enum outer_class read_gue(const void* ip, const void* end, struct outer* outer) {
  const struct udphdr* udp =
      tunnel_header(ip, end, outer, sizeof(*udp) + sizeof(struct gue_header));
  if (!udp || udp->dest != bpf_htons(GUE_PORT)) return NOT_A_TUNNEL;
  const struct gue_header* gue = (const void*)(udp + 1);
  // Draft section 3.1: variant 0, no control message, no extension fields. Another variant, a
  // control message or an option is for another GUE receiver.
  if (gue->variant_control_hlen != 0) return NOT_A_TUNNEL;
  // Draft section 3.2.1: an IP protocol number.
  if (gue->protocol != IPPROTO_IPIP && gue->protocol != IPPROTO_IPV6) return NOT_A_TUNNEL;
  // Draft section 3.3: a flag stands for an extension field, and a header length of zero has room
  // for none. The kernel's receiver drops it as well.
  if (gue->flags != 0) return BROKEN_TUNNEL;
  // RFC 768: the length of the datagram. Surplus bytes (RFC 9868) are not penstock's.
  if (bpf_ntohs(udp->len) != outer->total_bytes - outer->ip_bytes) return BROKEN_TUNNEL;
  // Zero is "no checksum" over IPv4 by RFC 768; over IPv6 by RFC 6935 section 5, which allows it to
  // a tunnel that asks for it: this port, under RFC 6936. The inner packet has its own checksums.
  outer->has_udp_checksum = udp->check != 0;
  outer->inner_version = gue->protocol == IPPROTO_IPIP ? 4 : 6;
  outer->first_kind = DECAP_GUE_4IN4;
  outer->header_bytes = outer->ip_bytes + sizeof(*udp) + sizeof(*gue);
  return TUNNEL;
}

// `has_tunnel_header` is 0 when the packet cannot have one, or nobody can say where it begins: a
// fragment that is not the first. IP-in-IP is ours without; GRE or UDP might be anybody's.
// REQUIRES: ip_bytes and total_bytes are set.
ALWAYS_INLINE enum outer_class read_tunnel(__u8 protocol, int has_tunnel_header, const void* ip,
                                           const void* end, struct outer* outer) {
  if (protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6) {
    outer->inner_version = protocol == IPPROTO_IPIP ? 4 : 6;
    outer->first_kind = DECAP_IPIP_4IN4;
    outer->header_bytes = outer->ip_bytes;
    return TUNNEL;
  }
  if (!has_tunnel_header) return NOT_A_TUNNEL;
  if (protocol == IPPROTO_GRE) return read_gre(ip, end, outer);
  if (protocol == IPPROTO_UDP) return read_gue(ip, end, outer);
  return NOT_A_TUNNEL;
}

#endif  // PENSTOCK_SRC_DECAP_TUNNEL_BPF_H_
