// Checksums of the outer headers. The kernel never sees these headers, so it cannot check them.
#ifndef PENSTOCK_SRC_DECAP_CHECKSUM_BPF_H_
#define PENSTOCK_SRC_DECAP_CHECKSUM_BPF_H_

#include <stddef.h>

#include "packet.bpf.h"

// The helper takes multiples of 4 bytes, and up to Linux 6.12 no more than 512.
enum { SUM_CHUNK = 512 };
// Twice the longest Ethernet frames in use. The verifier counts a packet pointer up to 65,535, the
// headers in front included, so that a power of two leaves this much.
enum { SUM_LIMIT_MASK = 0x7fff };

// REQUIRES: `sum` is less than 2^34.
ALWAYS_INLINE __u32 fold(__u64 sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

// RFC 1071: a header whose checksum is right sums to all ones. Options are part of the sum.
ALWAYS_INLINE int has_valid_header_checksum(const struct iphdr* ip, const void* end) {
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
  return fold(sum) == 0xffff;
}

// The sum of the whole chunks among `bytes` bytes, or -1 when the packet ends before.
ALWAYS_INLINE __s64 sum_chunks(const void* start, const void* end, __u32 bytes) {
  __u32 sum = 0;
  for (__u32 i = 0; i <= SUM_LIMIT_MASK / SUM_CHUNK; i++, start += SUM_CHUNK) {
    if (i >= bytes / SUM_CHUNK) break;
    asm volatile("" : "+r"(start));
    if (start + SUM_CHUNK > end) return -1;
    sum = bpf_csum_diff(0, 0, (void*)start, SUM_CHUNK, sum);
  }
  return sum;
}

// The sum of what follows the whole chunks, in parts of constant size, as the verifier wants them:
// 256 bytes, 128, and so on to 4. Each part begins where the greater ones end, which is said by the
// bits of `bytes` alone: paths that took different parts look alike to the verifier.
ALWAYS_INLINE __s64 sum_parts(const void* start, const void* end, __u32 bytes, __u32 sum) {
#pragma clang loop unroll(full)
  for (__u32 size = SUM_CHUNK / 2; size >= 4; size /= 2) {
    if (!(bytes & size)) continue;
    void* part = behind(start, bytes & ~(2 * size - 1), SUM_LIMIT_MASK);
    if (part + size > end) return -1;
    sum = bpf_csum_diff(0, 0, part, size, sum);
  }
  return sum;
}

// The last 0 to 3 bytes. RFC 1071 section 4.1: an odd one is padded with zero on the right.
ALWAYS_INLINE __s64 sum_rest(const void* start, const void* end, __u32 bytes) {
  __u32 sum = 0;
  if (bytes & 2) {
    const __u16* word = behind(start, bytes & ~3, SUM_LIMIT_MASK);
    if ((const void*)(word + 1) > end) return -1;
    sum = *word;
  }
  if (bytes & 1) {
    const __u8* byte = behind(start, bytes & ~1, SUM_LIMIT_MASK);
    if ((const void*)(byte + 1) > end) return -1;
    sum += bpf_htons(*byte << 8);
  }
  return sum;
}

ALWAYS_INLINE __u32 sum_addresses(const void* ip, const void* end, __u8 version) {
  if (version == 4) {
    if (ip + sizeof(struct iphdr) > end) return 0;
    return bpf_csum_diff(0, 0, (void*)ip + offsetof(struct iphdr, saddr), 8, 0);
  }
  if (ip + sizeof(struct ipv6hdr) > end) return 0;
  return bpf_csum_diff(0, 0, (void*)ip + offsetof(struct ipv6hdr, saddr), 32, 0);
}

// RFC 768, RFC 8200 section 8.1: over the addresses, protocol and length, and the whole datagram.
// REQUIRES: the UDP length is what follows the IP header.
ALWAYS_INLINE int has_valid_udp_checksum(const void* ip, const void* end,
                                         const struct outer* outer) {
  __u32 bytes = outer->total_bytes - outer->ip_bytes;
  if (bytes > SUM_LIMIT_MASK) return 0;
  const void* udp = behind(ip, outer->ip_bytes, HEADER_BYTES_MASK);
  __s64 chunks = sum_chunks(udp, end, bytes);
  if (chunks < 0) return 0;
  __s64 parts = sum_parts(udp, end, bytes, chunks);
  __s64 rest = sum_rest(udp, end, bytes);
  if (parts < 0 || rest < 0) return 0;
  __u64 sum = (__u64)parts + (__u64)rest + sum_addresses(ip, end, outer->version);
  return fold(sum + bpf_htons(IPPROTO_UDP) + bpf_htons(bytes)) == 0xffff;
}

// RFC 1624 equation 3. The version and IHL share the 16-bit word with the TOS but cancel out.
ALWAYS_INLINE void set_ecn_v4(struct iphdr* ip, __u8 ecn) {
  __u8 tos = (ip->tos & ~ECN_MASK) | ecn;
  ip->check = ~fold((__u16)~ip->check + (__u16)~bpf_htons(ip->tos) + bpf_htons(tos));
  ip->tos = tos;
}

#endif  // PENSTOCK_SRC_DECAP_CHECKSUM_BPF_H_
