// An access port of a switch, for kernels without 802.1Q: the router's end of a link sends its
// packets tagged, and takes only those that come back with exactly that one tag.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
// Needs what stands above.
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum { VLAN = 100 };

SEC("tc/push")
int push(struct __sk_buff* packet) {
  return bpf_skb_vlan_push(packet, bpf_htons(ETH_P_8021Q), VLAN) ? TC_ACT_SHOT : TC_ACT_OK;
}

// The kernel has taken the first tag out of the packet; a second one would be its protocol.
SEC("tc/pop")
int pop(struct __sk_buff* packet) {
  if (!packet->vlan_present || packet->vlan_tci != VLAN) return TC_ACT_SHOT;
  if (packet->protocol == bpf_htons(ETH_P_8021Q)) return TC_ACT_SHOT;
  return bpf_skb_vlan_pop(packet) ? TC_ACT_SHOT : TC_ACT_OK;
}

char program_license[] SEC("license") = "Apache-2.0";
