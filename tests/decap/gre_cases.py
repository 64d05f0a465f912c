"""GRE (RFC 2784, RFC 7676): ours has no optional fields, and other tunnels may be on the link."""

import struct

from scapy.all import IPv6ExtHdrFragment, Raw

from packets import PAIRS, ethertype, inner, outer, wrap

CHECKSUM, KEY, SEQUENCE = 0x8000, 0x2000, 0x1000  # RFC 2784, RFC 2890
ROUTING, STRICT, RECURSION = 0x4000, 0x0800, 0x0400  # RFC 1701: bits 1, 4 and 5
IGNORED = tuple(1 << (15 - bit) for bit in range(6, 13))
OTHER_TYPES = {"Ethernet": 0x6558, "ARP": 0x0806, "MPLS": 0x8847, "PPP": 0x880B, "no type": 0}


def gre(flags, protocol_type, optional_words=0):
    return Raw(struct.pack("!HH", flags, protocol_type) + b"\0\0\0\7" * optional_words)


def all_cases(frames):
    yield from flags(frames)
    yield from not_ours(frames)
    yield from fragments(frames)


def flags(frames):
    for i, o in PAIRS:
        def packet(bits, words=0, i=i, o=o):
            return outer(o, 47) / gre(bits, ethertype(i), words) / inner(i)

        for bits in IGNORED + (sum(IGNORED),):
            yield frames.unwrapped(
                f"IPv{i} in IPv{o} by GRE with {bits:#06x}, to be ignored, is unwrapped",
                packet(bits), inner(i), f"gre_{i}in{o}")
        for bits in (ROUTING, STRICT, RECURSION):
            yield frames.malformed(f"IPv{i} in IPv{o} by GRE with bit {bits:#06x}",
                                   frames.frame(packet(bits)))
        for version in range(1, 8):
            yield frames.malformed(f"IPv{i} in IPv{o} by GRE version {version}",
                                   frames.frame(packet(version)))
        for bits in (CHECKSUM, KEY, SEQUENCE, KEY | SEQUENCE, CHECKSUM | KEY | SEQUENCE):
            yield frames.passed(f"IPv{i} in IPv{o} by GRE with optional fields {bits:#06x}",
                                frames.frame(packet(bits, bits.bit_count())))


def not_ours(frames):
    for version in (4, 6):
        for name, number in OTHER_TYPES.items():
            packet = outer(version, 47) / gre(1 if name == "PPP" else 0, number) / inner(4)
            yield frames.passed(f"{name} by GRE in IPv{version}", frames.frame(packet))
        for kept in (0, 3):
            packet = outer(version, 47) / Raw(bytes(gre(0, 0x0800))[:kept])
            # The padding completes the header, and must not count.
            rest = bytes(gre(0, 0x0800))[kept:] + bytes(inner(4))
            yield frames.passed(f"{kept} bytes of a GRE header in IPv{version}",
                                frames.frame(packet) + rest)
            yield frames.passed(f"a frame that ends after {kept} bytes of the GRE header in "
                                f"IPv{version}", frames.frame(packet))
    yield frames.passed("GRE with an outer IHL of 4, the kernel's to judge,", frames.frame(
        outer(4, 47, ihl=4, dst="0.0.8.0") / gre(0, 0x0800) / inner(4)))
    yield frames.passed("GRE with a key and a wrong outer checksum, the kernel's to judge,",
                        frames.frame(outer(4, 47, chksum=1) / gre(KEY, 0x0800, 1) / inner(4)))


def fragments(frames):
    """Nobody can say whose a fragment without the GRE header is."""
    yield frames.passed("a later IPv4 fragment of GRE",
                        frames.frame(wrap("gre", 4, 4, inner(4), flags=0, frag=3)))
    yield frames.passed("a first IPv4 fragment of GRE with a key", frames.frame(
        outer(4, 47, flags="MF") / gre(KEY, 0x0800, 1) / inner(4)))
    for more in (0, 1):
        packet = outer(6, 44) / IPv6ExtHdrFragment(nh=47, offset=3, m=more) / gre(0, 0x0800)
        yield frames.passed(f"a later IPv6 fragment of GRE with M={more}",
                            frames.frame(packet / inner(4)))
