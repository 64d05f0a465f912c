#!/usr/bin/python3
"""Writes the seed corpora of the packet fuzzers: one file for each kind of frame, and for each kind
of packet that an ICMP error quotes, named by it.

usage: make_packet_corpus.py FOLDER      FOLDER/packets, FOLDER/quotes (needs python3-scapy)
"""

import pathlib
import sys

from scapy.all import (ARP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMP, ICMPv6EchoRequest,
                       ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr,
                       ICMPv6PacketTooBig,
                       IPOption_NOP, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, Raw)

VIP4, VIP6 = "203.0.113.10", "2001:db8:53::10"
CLIENT4, CLIENT6 = "192.0.2.1", "2001:db8::1"


def ether(kind=None):
    return Ether(src="02:00:00:00:00:99", dst="02:00:00:00:00:01", **({"type": kind} if kind else {}))


def v4(**fields):
    return ether() / IP(src=CLIENT4, dst=VIP4, **fields)


def v6(**fields):
    return ether() / IPv6(src=CLIENT6, dst=VIP6, **fields)


def frames():
    tcp, udp = TCP(sport=40000, dport=80, flags="S"), UDP(sport=40000, dport=80)
    ns = ICMPv6ND_NS(tgt="2001:db8:2:1::2") / ICMPv6NDOptSrcLLAddr(lladdr="02:00:00:00:00:99")
    na = ICMPv6ND_NA(tgt="2001:db8:2:1::1") / ICMPv6NDOptDstLLAddr(lladdr="02:00:00:00:00:99")
    return {
        "v4_syn": v4() / tcp,
        "v4_ack_payload": v4() / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 64),
        "v4_fin": v4() / TCP(sport=40000, dport=80, flags="FA"),
        "v4_udp": v4() / udp / Raw(b"query"),
        "v4_options": v4(options=[IPOption_NOP()] * 4) / tcp,
        "v4_padding": v4() / tcp / Raw(b""),
        "v4_fragment_first": v4(flags="MF") / udp / Raw(b"y" * 64),
        "v4_fragment_later": v4(frag=8, proto=17) / Raw(b"y" * 64),
        "v4_icmp": v4() / ICMP(),
        "v4_unreachable": v4() / ICMP(type=3, code=4, nexthopmtu=1400) / IP(src=VIP4, dst=CLIENT4)
        / TCP(sport=80, dport=40000),
        "v4_in_v4": v4() / IP(src=CLIENT4, dst=VIP4) / tcp,
        "v6_syn": v6() / tcp,
        "v6_udp": v6() / udp,
        "v6_hop_by_hop": v6() / IPv6ExtHdrHopByHop() / tcp,
        "v6_chain": v6() / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() / IPv6ExtHdrDestOpt() / tcp,
        "v6_atomic_fragment": v6() / IPv6ExtHdrFragment() / tcp,
        "v6_fragment": v6() / IPv6ExtHdrFragment(offset=1, m=1) / Raw(b"z" * 16),
        "v6_echo": v6() / ICMPv6EchoRequest(),
        "ndp_solicitation": ether() / IPv6(src="2001:db8:2:1::1", dst="ff02::1:ff00:2", hlim=255) / ns,
        "ndp_advertisement": ether() / IPv6(src="2001:db8:2:1::1", dst="2001:db8:2:1::2", hlim=255) / na,
        "arp_request": ether() / ARP(op=1, psrc="10.2.1.1", pdst="10.2.1.2", hwsrc="02:00:00:00:00:99"),
        "arp_reply": ether() / ARP(op=2, psrc="10.2.1.1", pdst="10.2.1.2", hwsrc="02:00:00:00:00:99"),
        "vlan": ether() / Dot1Q(vlan=100) / IP(src=CLIENT4, dst=VIP4) / tcp,
        "qinq": ether() / Dot1AD(vlan=5) / Dot1Q(vlan=100) / IP(src=CLIENT4, dst=VIP4) / tcp,
        "v4_gre": v4() / TCP(sport=40000, dport=81, flags="A") / Raw(b"x" * 31),
        "v4_gue": v4() / TCP(sport=40000, dport=82, flags="A") / Raw(b"x" * 33),
        "v4_l2": v4() / TCP(sport=40000, dport=83, flags="A"),
        "v4_outer_source": v4() / UDP(sport=40000, dport=95),
        "v4_prefix": ether() / IP(src=CLIENT4, dst="203.0.113.70") / UDP(sport=1, dport=5),
        "v4_denied": ether() / IP(src="192.0.2.200", dst="203.0.113.70") / UDP(sport=1, dport=5),
        "v4_too_big": v4(flags="DF") / tcp / Raw(b"x" * 1460),
        "v4_split": v4() / udp / Raw(b"x" * 1470),
        "v4_ping": v4() / ICMP() / Raw(b"ping"),
        "v4_ping_forwarded": ether() / IP(src=CLIENT4, dst="203.0.113.70") / ICMP(),
        "v4_ping_port": ether() / IP(src=CLIENT4, dst="10.2.1.2") / ICMP(),
        "v4_fabric_mtu": ether() / IP(src="10.9.9.9", dst="10.2.1.2")
        / ICMP(type=3, code=4, nexthopmtu=1400) / IP(src="10.2.1.2", dst="10.2.1.3", proto=4)
        / Raw(b"x" * 8),
        "v6_gue": v6() / TCP(sport=40000, dport=82, flags="A") / Raw(b"x" * 33),
        "v6_too_big": v6() / tcp / Raw(b"x" * 1440),
        "v6_packet_too_big": v6() / ICMPv6PacketTooBig(mtu=1400) / IPv6(src=VIP6, dst=CLIENT6)
        / TCP(sport=80, dport=40000),
        "lldp": ether(0x88CC) / Raw(b"\x02\x07\x04"),
    }


def quotes():
    """The first byte chooses the family: even IPv4, odd IPv6."""
    tcp, udp = TCP(sport=80, dport=40000), UDP(sport=80, dport=40000)
    ip4, ip6 = IP(src=VIP4, dst=CLIENT4), IPv6(src=VIP6, dst=CLIENT6)
    return {
        "v4_tcp": b"\0" + bytes(ip4 / tcp)[:28],
        "v4_udp": b"\0" + bytes(ip4 / udp),
        "v4_options": b"\0" + bytes(IP(src=VIP4, dst=CLIENT4, options=[IPOption_NOP()] * 4) / tcp),
        "v4_later_fragment": b"\0" + bytes(IP(src=VIP4, dst=CLIENT4, frag=5) / tcp),
        "v4_gre": b"\0" + bytes(IP(src=VIP4, dst=CLIENT4, proto=47) / tcp),
        "v6_tcp": b"\1" + bytes(ip6 / tcp)[:48],
        "v6_udp": b"\1" + bytes(ip6 / udp),
        "v6_chain": b"\1" + bytes(ip6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() / tcp),
        "v6_fragment": b"\1" + bytes(ip6 / IPv6ExtHdrFragment(m=1) / tcp),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "packets").mkdir(parents=True, exist_ok=True)
    (folder / "quotes").mkdir(exist_ok=True)
    for name, frame in frames().items():
        padding = b"\xaa" * 6 if name == "v4_padding" else b""
        (folder / "packets" / name).write_bytes(bytes(frame) + padding)
    for name, quote in quotes().items():
        (folder / "quotes" / name).write_bytes(quote)


if __name__ == "__main__":
    main()
