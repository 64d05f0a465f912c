"""GUE variant 0 over UDP port 6080 (draft-ietf-intarea-gue-09), and UDP's length and checksum."""

from scapy.all import IPv6ExtHdrFragment, Raw, raw

from packets import GUE_PORT, PAIRS, gue, inner, ip_protocol, outer, udp, wrap

CONTROL, HLEN_1 = 0x20, 0x01
OTHER_FIRST_BYTES = {"variant 1": 0x40, "variant 2": 0x80, "variant 3": 0xC0,
                     "a control message": CONTROL, "an extension field": HLEN_1}
# Of the datagram: around the parts that the program sums, and each part alone.
LENGTHS = (64, 65, 66, 67, 68, 72, 80, 96, 127, 128, 255, 256, 257, 259, 383, 511, 512, 513, 514,
           516, 767, 768, 1023, 1024, 1025, 1279, 1535)
LONGEST = 32767
HEADER_BYTES = 12  # UDP and GUE


def all_cases(frames):
    yield from zero_checksum(frames)
    yield from right_and_wrong_checksums(frames)
    yield from every_byte_counts(frames)
    yield from broken(frames)
    yield from not_ours(frames)
    yield from fragments(frames)


def sized(version, datagram_bytes):
    """An inner packet that makes the datagram that long."""
    rest = datagram_bytes - HEADER_BYTES - len(inner(version, payload=b""))
    return inner(version, payload=bytes(1 + n % 255 for n in range(rest)))


def with_udp(i, o, **fields):
    return outer(o, 17) / udp(**fields) / gue(ip_protocol(i)) / inner(i)


def zero_checksum(frames):
    for i, o in PAIRS:
        # RFC 768 for IPv4, RFC 6935 for IPv6.
        yield frames.unwrapped(f"IPv{i} in IPv{o} by GUE with a UDP checksum of zero is unwrapped",
                               with_udp(i, o, chksum=0), inner(i), f"gue_{i}in{o}")
        yield frames.unwrapped(f"IPv{i} in IPv{o} by GUE from UDP port 6080 is unwrapped",
                               with_udp(i, o, sport=GUE_PORT), inner(i), f"gue_{i}in{o}")


def right_and_wrong_checksums(frames):
    for i, o in PAIRS:
        words = f"IPv{i} in IPv{o} by GUE with"
        for wrong in (1, 0xFFFF):
            yield frames.malformed(f"{words} a UDP checksum of {wrong:#x}",
                                   frames.frame(with_udp(i, o, chksum=wrong)))
        right = udp_checksum(with_udp(i, o))
        for wrong in (right ^ 1, right ^ 0x8000, right ^ 0xFFFF):
            yield frames.malformed(f"{words} a UDP checksum of {wrong:#x}, not {right:#x}",
                                   frames.frame(with_udp(i, o, chksum=wrong)))
        # A sum of zero is sent as all ones. The source port makes it so: one's complement.
        port = (51234 + right) % 0xFFFF
        packet = with_udp(i, o, sport=port)
        assert udp_checksum(packet) == 0xFFFF
        yield frames.unwrapped(f"{words} a UDP checksum that comes out as zero is unwrapped",
                               packet, inner(i), f"gue_{i}in{o}")
    for i, o in ((4, 4), (4, 6)):
        for length in LENGTHS:
            packet = wrap("gue", i, o, sized(i, length))
            yield frames.unwrapped(f"a datagram of {length} bytes in IPv{o} is unwrapped", packet,
                                   sized(i, length), f"gue_{i}in{o}")
            frame = bytearray(frames.frame(packet))
            frame[-1] ^= 0x10
            yield frames.malformed(
                f"a datagram of {length} bytes in IPv{o} with a wrong last byte", bytes(frame))


def jumbo(frames):
    """The longest datagrams whose checksum is verified, and the first that is too long."""
    for o in (4, 6):
        for length in (9000, LONGEST):
            packet = wrap("gue", 4, o, sized(4, length))
            yield frames.unwrapped(f"a datagram of {length} bytes in IPv{o} is unwrapped", packet,
                                   sized(4, length), f"gue_4in{o}")
            for place in (length // 2, length - 1):
                frame = bytearray(frames.frame(packet))
                frame[place - length] ^= 0x20
                yield frames.malformed(
                    f"a datagram of {length} bytes in IPv{o} with byte {place} changed",
                    bytes(frame))
        packet = wrap("gue", 4, o, sized(4, LONGEST + 1))
        yield frames.malformed(f"a datagram of {LONGEST + 1} bytes in IPv{o} with a checksum",
                               frames.frame(packet))
        packet.payload.chksum = 0
        yield frames.unwrapped(f"a datagram of {LONGEST + 1} bytes in IPv{o} without is unwrapped",
                               packet, sized(4, LONGEST + 1), f"gue_4in{o}")


def udp_checksum(packet):
    return int.from_bytes(raw(packet.payload)[6:8], "big")


def every_byte_counts(frames):
    for o, addresses in ((4, range(12, 20)), (6, range(8, 40))):
        length = 1024 + 256 + 64 + 8 + 3
        whole = frames.frame(wrap("gue", 4, o, sized(4, length)))
        header = 20 if o == 4 else 40
        # Ports, addresses, and the inner packet at steps that visit every part of the sum. The
        # IPv4 header's own checksum covers its addresses, so it is corrected below.
        places = list(addresses) + [header, header + 1] + list(range(header + 12, length, 41))
        for place in places:
            frame = bytearray(whole)
            frame[14 + place] ^= 0x04
            if o == 4 and place < header:
                correct_ipv4_checksum(frame, whole, place)
            yield frames.malformed(f"a datagram in IPv{o} with byte {place} changed", bytes(frame))


def correct_ipv4_checksum(frame, before, place):
    """RFC 1624 equation 3, so that only the UDP checksum is wrong."""
    word = 14 + (place & ~1)
    old, new = (int.from_bytes(data[word:word + 2], "big") for data in (before, frame))
    total = (int.from_bytes(before[24:26], "big") ^ 0xFFFF) + (old ^ 0xFFFF) + new
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    frame[24:26] = (total ^ 0xFFFF).to_bytes(2, "big")


def broken(frames):
    for i, o in PAIRS:
        words = f"IPv{i} in IPv{o} by GUE with"
        for flags in (1, 0x80, 0x100, 0x8000):
            packet = outer(o, 17) / udp() / gue(ip_protocol(i), flags=flags) / inner(i)
            yield frames.malformed(f"{words} flags {flags:#06x} and no fields",
                                   frames.frame(packet))
        right = HEADER_BYTES + len(inner(i))
        for length in (0, 8, 12, right - 1, right + 1, 0xFFFF):
            yield frames.malformed(f"{words} a UDP length of {length} instead of {right}",
                                   frames.frame(with_udp(i, o, len=length, chksum=0)))
        surplus = wrap("gue", i, o, inner(i) / Raw(b"\0\0\0\0"))
        surplus.payload.len = right
        surplus.payload.chksum = udp_checksum(with_udp(i, o))
        yield frames.malformed(f"{words} bytes behind the datagram", frames.frame(surplus))


def not_ours(frames):
    for o in (4, 6):
        for port in (6079, 6081, 0x6080, 53):
            yield frames.passed(f"UDP in IPv{o} to port {port}",
                                frames.frame(with_udp(4, o, sport=GUE_PORT, dport=port)))
        for name, first in OTHER_FIRST_BYTES.items():
            option = Raw(b"\0" * 4 * (first & HLEN_1))
            packet = outer(o, 17) / udp() / gue(4, first=first) / option / inner(4)
            yield frames.passed(f"GUE in IPv{o} with {name}", frames.frame(packet))
        yield frames.passed(f"GUE variant 1 in IPv{o}, an IPv4 header right behind UDP,",
                            frames.frame(outer(o, 17) / udp() / inner(4)))
        for protocol in (0, 6, 17, 47, 59, 143):
            packet = outer(o, 17) / udp() / gue(protocol) / inner(4)
            yield frames.passed(f"GUE in IPv{o} with protocol {protocol}", frames.frame(packet))
        yield from short(frames, o)
    # Where the UDP header would be, the header says: to port 6080.
    yield frames.passed("GUE with an outer IHL of 4, the kernel's to judge,", frames.frame(
        outer(4, 17, ihl=4, dst="1.2.23.192") / Raw(b"\0\x20\0\0\0\4\0\0") / inner(4)))


def short(frames, o):
    """The padding completes the headers, and must not count."""
    whole = raw(udp(chksum=0) / gue(4) / inner(4))
    for kept in (0, 3, 7, 8, 11):
        header = frames.frame(outer(o, 17) / Raw(whole[:kept]))
        yield frames.passed(f"{kept} bytes of the UDP and GUE headers in IPv{o}",
                            header + whole[kept:])
        yield frames.passed(f"a frame that ends after {kept} bytes of UDP and GUE in IPv{o}",
                            header)


def fragments(frames):
    """Nobody can say whose a fragment without the UDP header is."""
    yield frames.passed("a later IPv4 fragment of UDP",
                        frames.frame(wrap("gue", 4, 4, inner(4), flags=0, frag=3)))
    yield frames.passed("a first IPv4 fragment to another UDP port", frames.frame(
        outer(4, 17, flags="MF") / udp(dport=6081) / gue(4) / inner(4)))
    for more in (0, 1):
        packet = outer(6, 44) / IPv6ExtHdrFragment(nh=17, offset=3, m=more)
        yield frames.passed(f"a later IPv6 fragment of UDP with M={more}",
                            frames.frame(packet / udp(chksum=0) / gue(4) / inner(4)))
