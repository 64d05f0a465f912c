"""What the cases are made of: addresses, inner packets, and the headers around them."""

import struct
from dataclasses import dataclass

from scapy.all import GRE, IP, TCP, UDP, Ether, IPv6, Raw, raw

PAIRS = ((4, 4), (6, 4), (4, 6), (6, 6))  # (inner, outer)
TUNNELS = ("ipip", "gre", "gue")
NAMES = {"ipip": "", "gre": " by GRE", "gue": " by GUE"}
GUE_PORT = 6080

LB4, BACKEND4 = "10.2.1.2", "10.3.1.2"
LB6, BACKEND6 = "2001:db8:2:1::2", "2001:db8:3:1::2"
VIP4, CLIENT4 = "203.0.113.10", "10.1.0.2"
VIP6, CLIENT6 = "2001:db8:53::10", "2001:db8:1::2"


@dataclass
class Case:
    sentence: str
    frame: bytes
    expected: bytes | None  # the frame the kernel gets, None: nothing
    kind: str


def inner(version, tos=0, payload=b"x" * 37):
    if version == 4:
        packet = IP(src=CLIENT4, dst=VIP4, tos=tos, ttl=61, id=4711)
    else:
        packet = IPv6(src=CLIENT6, dst=VIP6, tc=tos, hlim=61, fl=0x12345)
    return packet / TCP(sport=40000, dport=80, flags="PA", seq=1, ack=1) / Raw(payload)


def outer(version, protocol, tos=0, **fields):
    if version == 4:
        values = dict(src=LB4, dst=BACKEND4, proto=protocol, tos=tos, ttl=64, flags="DF", id=0)
        return IP(**{**values, **fields})
    values = dict(src=LB6, dst=BACKEND6, nh=protocol, tc=tos, hlim=64, fl=0xabcde)
    return IPv6(**{**values, **fields})


def ip_protocol(version):
    return 4 if version == 4 else 41


def ethertype(version):
    return 0x0800 if version == 4 else 0x86DD


def gue(protocol, first=0, flags=0):
    """The header of draft-ietf-intarea-gue-09 section 3.1; `first`: variant, C and Hlen."""
    return Raw(struct.pack("!BBH", first, protocol, flags))


def udp(**fields):
    return UDP(**{**dict(sport=51234, dport=GUE_PORT), **fields})


def wrap(tunnel, i, o, packet, **fields):
    """`packet`, which claims to be IPv`i`, in outer IPv`o`; `fields` are the outer header's."""
    if tunnel == "ipip":
        return outer(o, ip_protocol(i), **fields) / packet
    if tunnel == "gre":
        return outer(o, 47, **fields) / GRE(proto=ethertype(i)) / packet
    return outer(o, 17, **fields) / udp() / gue(ip_protocol(i)) / packet


class Frames:
    """Builds frames and cases for one pair of MAC addresses."""

    def __init__(self, mac, peer_mac):
        self.mac, self.peer_mac = mac, peer_mac

    def frame(self, packet, mac=None, version=None):
        """`version` is what the Ethernet header says when that is not what the packet says."""
        header = Ether(src=self.peer_mac, dst=mac or self.mac,
                       type=ethertype(version or packet.version))
        return raw(header / packet)

    def unwrapped(self, sentence, packet, expected, kind):
        return Case(sentence, self.frame(packet), self.frame(expected), kind)

    @staticmethod
    def malformed(sentence, frame):
        return Case(sentence + " is dropped", frame, None, "malformed")

    @staticmethod
    def passed(sentence, frame):
        return Case(sentence + " passes unchanged", frame, frame, "passed")
