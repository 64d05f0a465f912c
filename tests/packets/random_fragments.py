"""Random datagrams in fragments, as clients, networks and liars send them, with time in between."""

import struct

from scapy.all import TCP, UDP, IPv6, Raw, raw

import words
from model_parse import checksum

CLIENTS4 = ["192.0.2.1", "192.0.2.2", "198.18.3.1", "10.1.0.1", "198.51.100.11", "127.0.0.1"]
CLIENTS6 = ["2001:db8:c::1", "2001:db8:c::2", "2001:db8:c:1::1", "2001:db8:9::1", "2001:db8:1::11"]
OFTEN = [16, 16, 6, 1, 1, 1]  # how often each of them sends; the last ones may not
IDENTIFICATIONS = [1, 2, 3, 0x8003]
PORTS = [80, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 6080, 9]
# Bytes of a first part: what hides headers, what is small, what is around the rooms.
FIRST_PARTS = [8, 16, 24, 24, 32, 64, 64, 512, 512, 1232, 1280, 1400, 1432, 1440, 1448, 1456, 1464, 1480]
PAUSES = [0] * 12 + [7, 130, 190]  # milliseconds; no sum of them is just the time that fragments wait
LONG_PAUSES = [613, 1009, 1913, 2113]
MOST_FRAMES = 10  # so that rates of ICMP do not matter


def _header(whole: bytes) -> int:
    return (whole[0] & 15) * 4 if whole[0] >> 4 == 4 else 40


def _fragment4(whole: bytes, at: int, size: int, more: bool) -> bytes:
    """The part of an IPv4 packet, with all of its header but for length, flags and offset."""
    header = _header(whole)
    word = struct.unpack_from("!H", whole, 6)[0] & 0xC000 | (0x2000 if more else 0) | at // 8 & 0x1FFF
    body = whole[header + at:header + at + size]
    head = (whole[:2] + struct.pack("!H", header + len(body)) + whole[4:6] + struct.pack("!H", word) +
            whole[8:10] + b"\0\0" + whole[12:header])
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def _fragment6(whole: bytes, at: int, size: int, more: bool, identification: int, protocol: int,
               front: bytes) -> bytes:
    """`front`: extension headers in front of the fragment header; the first one is options."""
    body = whole[40 + at:40 + at + size]
    head = struct.pack("!BBHI", protocol, 0, at & 0xFFF8 | more, identification)
    behind = front + head + body
    return (whole[:4] + struct.pack("!HB", len(behind), 60 if front else 44) + whole[7:40] + behind)


class Streams:
    """Makes lists of (milliseconds before it, IP packet)."""

    def __init__(self, generator):
        """`generator`: a random_packets.Generator, whose words for headers are used."""
        self._generator = generator
        self._random = generator.random

    def stream(self) -> list[tuple[int, bytes]]:
        r = self._random
        datagrams = [self._datagram() for _ in range(r.choice((1, 1, 1, 2, 2, 3)))]
        packets: list[bytes] = []
        while any(datagrams) and len(packets) < MOST_FRAMES:
            packets.append(r.choice([d for d in datagrams if d]).pop(0))
        pauses = [r.choice(LONG_PAUSES if r.random() < 0.03 else PAUSES) for _ in packets]
        return list(zip([1000] + pauses[1:], packets))

    def _whole(self) -> bytes:
        r = self._random
        v4 = r.random() < 0.55
        source = r.choices(CLIENTS4 if v4 else CLIENTS6, OFTEN if v4 else OFTEN[:5])[0]
        head = self._generator.ip(source, self._generator.vip(v4), plain=r.random() < 0.5)
        size = r.choice((0, 20, 100, 100, 600, 1500, 3000, 4400)) + r.randrange(40)
        protocol, body = self._body(size)
        if v4:
            head.id, head.flags = r.choice(IDENTIFICATIONS), r.choice((0, 0, 0, "DF", "evil"))
            head.proto = protocol
        else:
            head.nh = protocol
        return raw(head / Raw(body))

    def _body(self, size: int) -> tuple[int, bytes]:
        r = self._random
        ports = {"sport": 1024 + r.randrange(8), "dport": r.choice(PORTS)}
        kind = r.random()
        if kind < 0.55:
            return 17, raw(UDP(**ports) / Raw(r.randbytes(size)))
        if kind < 0.92:
            flags = r.choice(("S", "A", "PA", "FA", "R"))
            options = r.choice(([], [], [("MSS", 1460)], [("NOP", None)] * 12))
            return 6, raw(TCP(flags=flags, options=options, **ports) / Raw(r.randbytes(size)))
        return r.choice((1, 58, 4, 41, 47, 50, 89)), r.randbytes(size + 8)

    def _cuts(self, size: int) -> list[tuple[int, int]]:
        """Where the parts begin, and their sizes; now and then they overlap or leave a gap."""
        r = self._random
        first = min(r.choice(FIRST_PARTS), max(8, (size - 1) // 8 * 8))
        starts = [0, first]
        while len(starts) < 5 and r.random() < 0.5 and starts[-1] + 16 < size:
            starts.append(starts[-1] + r.choice((8, 512, 1400, 1448, 1456, 1480)))
        starts = [at for at in starts if at < size]
        ends = starts[1:] + [size]
        parts = [(at, end - at) for at, end in zip(starts, ends)]
        if r.random() < 0.1:
            at, length = parts[-1]
            parts[-1] = (max(0, at - 8), length + 8) if r.random() < 0.5 else (at + 8, max(0, length - 8))
        return parts

    def _datagram(self) -> list[bytes]:
        """Its fragments in the order in which they come."""
        r = self._random
        whole = self._whole()
        size = len(whole) - _header(whole)
        identification = r.choice(IDENTIFICATIONS)
        parts = [self._part(whole, at, length, at + length < size, identification)
                 for at, length in self._cuts(size)]
        order = r.random()
        if order < 0.3:
            parts.reverse()
        elif order < 0.5:
            r.shuffle(parts)
        if r.random() < 0.2:
            del parts[r.randrange(len(parts))]
        if parts and r.random() < 0.2:
            parts.insert(r.randrange(len(parts) + 1), r.choice(parts))
        if r.random() < 0.2:
            parts.insert(r.randrange(len(parts) + 1), whole)
        return parts

    def _part(self, whole: bytes, at: int, size: int, more: bool, identification: int) -> bytes:
        r = self._random
        lie = r.random()
        if lie < 0.02:
            more = not more
        elif lie < 0.04:
            size = max(0, size - r.choice((1, 4, size)))
        elif lie < 0.05:
            identification += 1
        end = _fragment4 if whole[0] >> 4 == 4 else self._part6
        made = end(whole, at, size, more, *([] if whole[0] >> 4 == 4 else [identification]))
        return self._far(made) if 0.05 < lie < 0.07 else made

    def _part6(self, whole: bytes, at: int, size: int, more: bool, identification: int) -> bytes:
        """With what may be around a fragment header: options in front, options or another one behind."""
        r = self._random
        protocol, front = whole[6], b""
        if r.random() < 0.15:
            front = bytes([44, 0, 1, 4, 0, 0, 0, 0])
        if at != 0 and r.random() < 0.2:
            protocol = r.choice((6, 17, 58, 41, 59, 0))
        if at == 0 and r.random() < 0.15:
            kind = r.choice((60, 60, 60, 44, 59))
            extra = bytes([protocol, r.choice((0, 0, 0, 1, 200)), 0, 0, 0, 0, 0, 0])
            whole = whole[:40] + extra + whole[40:]
            protocol, size = kind, size + 8
        return _fragment6(whole, at, size, more, identification, protocol, front)

    def _far(self, fragment: bytes) -> bytes:
        """The fragment around the end of what can be: 65,535 bytes."""
        r = self._random
        changed = bytearray(fragment)
        offset = r.choice((8191, 8190, 8189, 8188, 8180, 8191 - len(fragment) // 8))
        if fragment[0] >> 4 == 4:
            word = struct.unpack_from("!H", changed, 6)[0] & 0xE000 | offset
            struct.pack_into("!H", changed, 6, word)
            struct.pack_into("!H", changed, 10, 0)
            struct.pack_into("!H", changed, 10, checksum(bytes(changed[:_header(fragment)])))
        else:
            at = 42 if fragment[6] == 44 else 50
            word = struct.unpack_from("!H", changed, at)[0] & 7 | offset << 3
            struct.pack_into("!H", changed, at, word)
        return bytes(changed)
