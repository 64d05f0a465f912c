"""Frames, and what becomes of each: written from the RFCs with scapy, not from the program."""

from scapy.all import (ICMP, IP, TCP, UDP, ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt,
                       IPv6ExtHdrFragment, Raw, checksum, raw)

import gre_cases
import gue_cases
from packets import (BACKEND6, CLIENT4, CLIENT6, LB6, NAMES, PAIRS, TUNNELS, VIP4, VIP6, Case,
                     inner, outer, wrap)

# RFC 6040 section 4.2, figure 4: (inner, outer) -> ECN field afterwards, None: dropped.
NOT_ECT, ECT_1, ECT_0, CE = 0, 1, 2, 3
ECN_AFTER = {
    (NOT_ECT, NOT_ECT): NOT_ECT, (NOT_ECT, ECT_0): NOT_ECT,
    (NOT_ECT, ECT_1): NOT_ECT, (NOT_ECT, CE): None,
    (ECT_0, NOT_ECT): ECT_0, (ECT_0, ECT_0): ECT_0, (ECT_0, ECT_1): ECT_1, (ECT_0, CE): CE,
    (ECT_1, NOT_ECT): ECT_1, (ECT_1, ECT_0): ECT_1, (ECT_1, ECT_1): ECT_1, (ECT_1, CE): CE,
    (CE, NOT_ECT): CE, (CE, ECT_0): CE, (CE, ECT_1): CE, (CE, CE): CE,
}


def all_cases(frames):
    yield from unwrapped(frames)
    yield from ecn(frames)
    yield from malformed(frames)
    yield from malformed_ipip(frames)
    yield from passed(frames)
    for module in (gre_cases, gue_cases):
        yield from module.all_cases(frames)


def every_pair():
    """(tunnel, inner version, outer version, the three in words, kind)"""
    for tunnel in TUNNELS:
        for i, o in PAIRS:
            yield tunnel, i, o, f"IPv{i} in IPv{o}{NAMES[tunnel]}", f"{tunnel}_{i}in{o}"


def unwrapped(frames):
    for tunnel, i, o, words, kind in every_pair():
        yield frames.unwrapped(f"{words} leaves the inner packet byte for byte",
                               wrap(tunnel, i, o, inner(i)), inner(i), kind)
        padded = frames.unwrapped(f"{words}: Ethernet padding is cut to the outer length",
                                  wrap(tunnel, i, o, inner(i, payload=b"")),
                                  inner(i, payload=b""), kind)
        padded.frame += b"\xee" * 9
        yield padded
        full = inner(i, payload=b"y" * (1500 - len(inner(i, payload=b""))))
        yield frames.unwrapped(f"{words}: an inner packet of 1500 bytes is unwrapped",
                               wrap(tunnel, i, o, full), full, kind)
    for tunnel in TUNNELS:
        for size in (8, 40):
            packet = wrap(tunnel, 4, 4, inner(4), options=b"\x01" * (size - 1) + b"\x00")
            yield frames.unwrapped(f"{size} bytes of outer IPv4 options are walked{NAMES[tunnel]}",
                                   packet, inner(4), f"{tunnel}_4in4")
        fragment = IP(src=CLIENT4, dst=VIP4, id=9, frag=185, proto=17) / Raw(b"z" * 64)
        yield frames.unwrapped(
            f"an inner fragment is unwrapped{NAMES[tunnel]}: only the outer one may not be one",
            wrap(tunnel, 4, 4, fragment), fragment, f"{tunnel}_4in4")


def ecn(frames):
    for tunnel, i, o, words, kind in every_pair():
        for (before, mark), after in ECN_AFTER.items():
            for dscp in (0, 0xB8):
                # The DSCP of the outer header differs on purpose: it must not come through.
                packet = wrap(tunnel, i, o, inner(i, tos=dscp | before), tos=0x28 | mark)
                sentence = f"{words}: DSCP {dscp >> 2}, ECN {before}, outer {mark}"
                if after is None:
                    yield Case(f"{sentence} is dropped", frames.frame(packet), None, "ecn_drop")
                    continue
                # scapy computes the checksum from scratch, the program updates it.
                yield frames.unwrapped(f"{sentence} becomes {after}", packet,
                                       inner(i, tos=dscp | after), kind)


def malformed(frames):
    """What breaks every encapsulation alike."""
    for tunnel, i, o, words, _ in every_pair():
        whole = frames.frame(wrap(tunnel, i, o, inner(i)))
        yield frames.malformed(f"{words}: an outer length one byte beyond the frame", whole[:-1])
        yield frames.malformed(f"{words}: an inner IPv{10 - i} instead",
                               frames.frame(wrap(tunnel, i, o, inner(10 - i))))
        short = Raw(raw(inner(i))[:19 if i == 4 else 39])
        cut = frames.frame(wrap(tunnel, i, o, short))
        yield frames.malformed(f"{words}: an inner header cut short", cut)
        yield frames.malformed(f"{words}: an inner header that ends in the padding",
                               cut + b"\0" * 30)
        yield frames.malformed(f"{words}: nothing inside", frames.frame(wrap(tunnel, i, o, b"")))
    for tunnel in TUNNELS:
        def case(sentence, packet, by=NAMES[tunnel], version=None):
            return frames.malformed(sentence + by, frames.frame(packet, version=version))

        wrong_version = wrap(tunnel, 4, 4, inner(4))
        wrong_version.version = 5
        yield case("an outer version of 5", wrong_version, version=4)
        wrong_version = wrap(tunnel, 6, 6, inner(6))
        wrong_version.version = 5
        yield case("an outer version of 5 in IPv6", wrong_version, version=6)
        yield case("a wrong outer IPv4 checksum", wrap(tunnel, 4, 4, inner(4), chksum=0x1234))
        yield case("a non-zero outer checksum sum over options",
                   wrap(tunnel, 4, 4, inner(4), options=b"\x01" * 4, chksum=1))
        yield case("a first outer IPv4 fragment", wrap(tunnel, 4, 4, inner(4), flags="MF"))
        for more in (0, 1):
            header = IPv6ExtHdrFragment(m=more, id=7)
            packet = wrap(tunnel, 6, 6, inner(6), nh=44)
            header.nh = {"ipip": 41, "gre": 47, "gue": 17}[tunnel]
            packet.payload = header / packet.payload
            yield case(f"a first outer IPv6 fragment with M={more}", packet)


def malformed_ipip(frames):
    """What breaks IP-in-IP, and what nobody can tell to be another thing."""
    plain4 = frames.frame(wrap("ipip", 4, 4, inner(4)))
    plain6 = frames.frame(wrap("ipip", 6, 6, inner(6)))
    for kept in (1, 9, 10, 19):
        yield frames.malformed(f"an outer IPv4 header cut to {kept} bytes", plain4[:14 + kept])
    for kept in (1, 7, 39):
        yield frames.malformed(f"an outer IPv6 header cut to {kept} bytes", plain6[:14 + kept])
    for ihl in (0, 4):
        # Only the IHL is wrong: the checksum holds for the short header, and what then counts
        # as the payload begins like an IPv4 header, because the destination is 69.0.0.77.
        fields = dict(ihl=ihl, len=77, dst="69.0.0.77")
        right = checksum(raw(outer(4, 4, chksum=0, **fields))[:4 * ihl])
        packet = wrap("ipip", 4, 4, inner(4), chksum=right, **fields)
        yield frames.malformed(f"an outer IHL of {ihl}", frames.frame(packet))
    for sentence, packet in (
            ("an outer IHL beyond the packet", outer(4, 4, ihl=15, len=20) / Raw(b"")),
            ("an outer IPv6 payload length of 0", wrap("ipip", 6, 6, inner(6), plen=0)),
            ("a later outer IPv4 fragment", wrap("ipip", 4, 4, inner(4), flags=0, frag=3)),
            ("an outer total length shorter than its header",
             wrap("ipip", 4, 4, inner(4), len=12))):
        yield frames.malformed(sentence, frames.frame(packet))
    for protocol in (4, 41):
        header = IPv6ExtHdrFragment(nh=protocol, offset=3, id=7)
        yield frames.malformed(f"a later outer IPv6 fragment with protocol {protocol}",
                               frames.frame(outer(6, 44) / header / inner(6)))


def passed(frames):
    def case(sentence, packet, mac=None):
        return frames.passed(sentence, frames.frame(packet, mac=mac))

    for version in (4, 6):
        yield case(f"IPv{version} TCP", inner(version))
    for tunnel, i, o, words, _ in every_pair():
        packet = wrap(tunnel, i, o, inner(i))
        yield case(f"{words} for another MAC", packet, mac="02:00:00:00:00:99")
        yield case(f"{words} for the broadcast MAC", packet, mac="ff:ff:ff:ff:ff:ff")
    yield case("IPv4 TCP with an IHL of 4, the kernel's to judge,",
               IP(src=CLIENT4, dst=VIP4, ihl=4) / TCP())
    yield case("ICMP", IP(src=CLIENT4, dst=VIP4) / ICMP())
    yield case("ICMPv6", IPv6(src=CLIENT6, dst=VIP6) / ICMPv6EchoRequest())
    yield case("UDP", IP(src=CLIENT4, dst=VIP4) / UDP(dport=53) / Raw(b"q"))
    yield case("an IPv4 TCP fragment",
               IP(src=CLIENT4, dst=VIP4, flags="MF") / TCP() / Raw(b"a" * 24))
    yield case("an IPv6 UDP fragment",
               IPv6(src=CLIENT6, dst=VIP6) / IPv6ExtHdrFragment(nh=17, m=1) / Raw(b"a" * 24))
    for protocol in (17, 41, 47):
        yield case(f"protocol {protocol} behind an IPv6 destination options header",
                   IPv6(src=LB6, dst=BACKEND6) / IPv6ExtHdrDestOpt(nh=protocol) / inner(6))
    yield frames.passed("ARP", bytes.fromhex(
        "ff" * 6 + frames.peer_mac.replace(":", "") + "0806") + b"\0" * 46)
