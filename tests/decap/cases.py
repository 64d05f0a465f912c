"""Frames, and what becomes of each: written from the RFCs with scapy, not from the program."""

from dataclasses import dataclass

from scapy.all import (ICMP, IP, TCP, UDP, ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt,
                       IPv6ExtHdrFragment, Ether, Raw, checksum, raw)

# RFC 6040 section 4.2, figure 4: (inner, outer) -> ECN field afterwards, None: dropped.
NOT_ECT, ECT_1, ECT_0, CE = 0, 1, 2, 3
ECN_AFTER = {
    (NOT_ECT, NOT_ECT): NOT_ECT, (NOT_ECT, ECT_0): NOT_ECT,
    (NOT_ECT, ECT_1): NOT_ECT, (NOT_ECT, CE): None,
    (ECT_0, NOT_ECT): ECT_0, (ECT_0, ECT_0): ECT_0, (ECT_0, ECT_1): ECT_1, (ECT_0, CE): CE,
    (ECT_1, NOT_ECT): ECT_1, (ECT_1, ECT_0): ECT_1, (ECT_1, ECT_1): ECT_1, (ECT_1, CE): CE,
    (CE, NOT_ECT): CE, (CE, ECT_0): CE, (CE, ECT_1): CE, (CE, CE): CE,
}
PAIRS = ((4, 4), (6, 4), (4, 6), (6, 6))  # (inner, outer)

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


def outer(version, inner_version, tos=0, **fields):
    protocol = 4 if inner_version == 4 else 41
    if version == 4:
        values = dict(src=LB4, dst=BACKEND4, proto=protocol, tos=tos, ttl=64, flags="DF", id=0)
        return IP(**{**values, **fields})
    values = dict(src=LB6, dst=BACKEND6, nh=protocol, tc=tos, hlim=64, fl=0xabcde)
    return IPv6(**{**values, **fields})


class Frames:
    """Builds cases for one pair of MAC addresses."""

    def __init__(self, mac, peer_mac):
        self.mac, self.peer_mac = mac, peer_mac

    def frame(self, packet, mac=None):
        ethertype = 0x0800 if packet.version == 4 else 0x86DD
        return raw(Ether(src=self.peer_mac, dst=mac or self.mac, type=ethertype) / packet)

    def all(self):
        yield from self.unwrapped()
        yield from self.ecn()
        yield from self.malformed()
        yield from self.passed()

    def unwrapped(self):
        for i, o in PAIRS:
            kind = f"ipip_{i}in{o}"
            yield Case(f"IPv{i} in IPv{o} leaves the inner packet byte for byte",
                       self.frame(outer(o, i) / inner(i)), self.frame(inner(i)), kind)
            bare = inner(i, payload=b"")
            yield Case(f"IPv{i} in IPv{o}: Ethernet padding is cut to the outer length",
                       self.frame(outer(o, i) / bare) + b"\xee" * 9, self.frame(bare), kind)
            full = inner(i, payload=b"y" * (1500 - len(inner(i, payload=b""))))
            yield Case(f"IPv{i} in IPv{o}: an inner packet of 1500 bytes is unwrapped",
                       self.frame(outer(o, i) / full), self.frame(full), kind)
        with_options = outer(4, 4, options=b"\x01\x01\x01\x01\x01\x01\x01\x00")
        yield Case("outer IPv4 options are walked over",
                   self.frame(with_options / inner(4)), self.frame(inner(4)), "ipip_4in4")
        fragment = IP(src=CLIENT4, dst=VIP4, id=9, frag=185, proto=17) / Raw(b"z" * 64)
        yield Case("an inner fragment is unwrapped: only the outer one may not be a fragment",
                   self.frame(outer(4, 4) / fragment), self.frame(fragment), "ipip_4in4")

    def ecn(self):
        for i, o in PAIRS:
            for (before, mark), after in ECN_AFTER.items():
                for dscp in (0, 0xB8):
                    # The DSCP of the outer header differs on purpose: it must not come through.
                    frame = self.frame(outer(o, i, tos=0x28 | mark) / inner(i, tos=dscp | before))
                    sentence = f"IPv{i} in IPv{o}: DSCP {dscp >> 2}, ECN {before}, outer {mark}"
                    if after is None:
                        yield Case(f"{sentence} is dropped", frame, None, "ecn_drop")
                        continue
                    # scapy computes the checksum from scratch, the program updates it.
                    yield Case(f"{sentence} becomes {after}", frame,
                               self.frame(inner(i, tos=dscp | after)), f"ipip_{i}in{o}")

    def malformed(self):
        def case(sentence, frame):
            return Case(sentence + " is dropped", frame, None, "malformed")

        plain4 = self.frame(outer(4, 4) / inner(4))
        plain6 = self.frame(outer(6, 6) / inner(6))
        for kept in (1, 9, 10, 19):
            yield case(f"an outer IPv4 header cut to {kept} bytes", plain4[:14 + kept])
        for kept in (1, 7, 39):
            yield case(f"an outer IPv6 header cut to {kept} bytes", plain6[:14 + kept])
        wrong_version = outer(4, 4)
        wrong_version.version = 5
        for ihl in (0, 4):
            # Only the IHL is wrong: the checksum holds for the short header, and what then counts
            # as the payload begins like an IPv4 header, because the destination is 69.0.0.77.
            fields = dict(ihl=ihl, len=77, dst="69.0.0.77")
            right = checksum(raw(outer(4, 4, chksum=0, **fields))[:4 * ihl])
            yield case(f"an outer IHL of {ihl}",
                       self.frame(outer(4, 4, chksum=right, **fields) / inner(4)))
        yield case("an outer IHL beyond the packet",
                   self.frame(outer(4, 4, ihl=15, len=20) / Raw(b"")))
        yield case("an outer version of 5", self.frame_v4(wrong_version / inner(4)))
        yield case("a wrong outer IPv4 checksum",
                   self.frame(outer(4, 4, chksum=0x1234) / inner(4)))
        yield case("a non-zero outer checksum sum over options",
                   self.frame(outer(4, 4, options=b"\x01" * 4, chksum=1) / inner(4)))
        yield case("an outer IPv4 total length one byte beyond the frame", plain4[:-1])
        yield case("an outer IPv6 payload length one byte beyond the frame", plain6[:-1])
        yield case("an outer IPv6 payload length of 0", self.frame(outer(6, 6, plen=0) / inner(6)))
        yield case("a first outer IPv4 fragment", self.frame(outer(4, 4, flags="MF") / inner(4)))
        yield case("a later outer IPv4 fragment",
                   self.frame(outer(4, 4, flags=0, frag=3) / inner(4)))
        for protocol in (4, 41):
            header = IPv6ExtHdrFragment(nh=protocol, m=1, id=7)
            yield case(f"an outer IPv6 fragment with protocol {protocol}",
                       self.frame(outer(6, 6, nh=44) / header / inner(6)))
        for i, o in PAIRS:
            yield case(f"an inner IPv{10 - i} where IPv{o} says IPv{i}",
                       self.frame(outer(o, i) / inner(10 - i)))
            short = raw(inner(i))[:19 if i == 4 else 39]
            yield case(f"an inner IPv{i} header cut short in IPv{o}",
                       self.frame(outer(o, i) / Raw(short)))
            yield case(f"an inner IPv{i} header that lies in the padding behind IPv{o}",
                       self.frame(outer(o, i) / Raw(short)) + b"\0" * 30)
            yield case(f"an empty IPv{o} tunnel packet for IPv{i}", self.frame(outer(o, i)))
        yield case("an outer total length shorter than its header",
                   self.frame(outer(4, 4, len=12) / inner(4)))

    def frame_v4(self, packet):
        return raw(Ether(src=self.peer_mac, dst=self.mac, type=0x0800) / packet)

    def passed(self):
        def case(sentence, frame):
            return Case(sentence + " passes unchanged", frame, frame, "passed")

        for version in (4, 6):
            yield case(f"IPv{version} TCP", self.frame(inner(version)))
            yield case(f"an IPv{version} tunnel packet for another MAC",
                       self.frame(outer(version, 4) / inner(4), mac="02:00:00:00:00:99"))
            yield case(f"an IPv{version} tunnel packet for the broadcast MAC",
                       self.frame(outer(version, 4) / inner(4), mac="ff:ff:ff:ff:ff:ff"))
        yield case("IPv4 TCP with an IHL of 4, the kernel's to judge,",
                   self.frame(IP(src=CLIENT4, dst=VIP4, ihl=4) / TCP()))
        yield case("ICMP", self.frame(IP(src=CLIENT4, dst=VIP4) / ICMP()))
        yield case("ICMPv6", self.frame(IPv6(src=CLIENT6, dst=VIP6) / ICMPv6EchoRequest()))
        yield case("UDP", self.frame(IP(src=CLIENT4, dst=VIP4) / UDP(dport=53) / Raw(b"q")))
        yield case("an IPv4 TCP fragment",
                   self.frame(IP(src=CLIENT4, dst=VIP4, flags="MF") / TCP() / Raw(b"a" * 24)))
        yield case("an IPv6 UDP fragment", self.frame(
            IPv6(src=CLIENT6, dst=VIP6) / IPv6ExtHdrFragment(nh=17, m=1) / Raw(b"a" * 24)))
        yield case("a tunnel packet behind an IPv6 destination options header", self.frame(
            IPv6(src=LB6, dst=BACKEND6) / IPv6ExtHdrDestOpt(nh=41) / inner(6)))
        yield case("ARP", bytes.fromhex("ff" * 6 + self.peer_mac.replace(":", "") + "0806")
                   + b"\0" * 46)
