"""From a frame to a checked IP packet: docs/PACKETS.md sections 1 and 2, and the RFCs they name."""

import dataclasses
import struct

ETHERNET, TAG = 14, 4
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
TAGS = (0x8100, 0x88A8)
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58

# RFC 8200 4, RFC 4302: what is walked over, and its bounds (RFC 8504 5.3).
HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION, NOTHING = 0, 43, 44, 51, 60, 59
WALKED = (HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION)
MOST_HEADERS, MOST_BYTES = 8, 256


class Drop(Exception):
    """The packet ends here, under the verdict in args[0]."""


def checksum(data: bytes) -> int:
    """RFC 1071; 0 over data that holds its own right checksum."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


@dataclasses.dataclass
class Part:
    """Where a fragment belongs: RFC 791 3.2, RFC 8200 4.5."""

    offset: int  # in units of 8 bytes
    more: bool
    identification: int
    front: int  # bytes of the datagram's header: IPv4 all, IPv6 what is behind its 40 bytes
    size: int  # bytes of the datagram's payload in this fragment

    def is_sound(self) -> bool:
        if self.more and (self.size == 0 or self.size % 8 != 0):
            return False
        return self.front + 8 * self.offset + self.size <= 0xFFFF


@dataclasses.dataclass
class Packet:
    """An IP packet, padding cut off."""

    data: bytes
    source: bytes
    destination: bytes
    protocol: int
    l4: int  # offset of what the IP header and its extensions carry; of a fragment's part
    tos: int  # or traffic class
    part: Part | None = None  # of a datagram; None: all of it

    @property
    def v4(self) -> bool:
        return len(self.source) == 4

    @property
    def later(self) -> bool:
        """A fragment that is not the first of its datagram."""
        return self.part is not None and self.part.offset != 0

    @property
    def payload(self) -> bytes:
        return self.data[self.l4:]

    @property
    def icmp(self) -> bool:
        return self.protocol == (ICMP if self.v4 else ICMPV6)

    @property
    def ports(self) -> tuple[int, int]:
        return struct.unpack_from("!HH", self.data, self.l4)


def open_frame(frame: bytes) -> tuple[int, bytes]:
    """EtherType behind at most two tags, and what follows."""
    if len(frame) < ETHERNET:
        raise Drop("drop_truncated")
    at, kind, tags = ETHERNET, struct.unpack_from("!H", frame, 12)[0], 0
    while kind in TAGS:
        tags += 1
        if tags > 2:
            raise Drop("drop_vlan_depth")
        if len(frame) < at + TAG:
            raise Drop("drop_truncated")
        kind = struct.unpack_from("!H", frame, at + 2)[0]
        at += TAG
    return kind, frame[at:]


def _parse_ipv4(data: bytes) -> Packet:
    """RFC 791 3.1, RFC 1122 3.2.1."""
    if len(data) < 20 or data[0] >> 4 != 4:
        raise Drop("drop_malformed_ipv4")
    header, total = (data[0] & 15) * 4, struct.unpack_from("!H", data, 2)[0]
    if header < 20 or total < header or total > len(data):
        raise Drop("drop_malformed_ipv4")
    data = data[:total]
    if checksum(data[:header]) != 0:
        raise Drop("drop_ipv4_checksum")
    if data[8] == 0:
        raise Drop("drop_ttl_zero")
    field = struct.unpack_from("!H", data, 6)[0]
    offset, more = field & 0x1FFF, field & 0x2000 != 0
    packet = Packet(data, data[12:16], data[16:20], data[9], header, data[1])
    if offset != 0 or more:
        identification = struct.unpack_from("!H", data, 4)[0]
        packet.part = Part(offset, more, identification, header, total - header)
        if not packet.part.is_sound():
            raise Drop("drop_malformed_fragment")
    return packet


@dataclasses.dataclass
class Chain:
    """IPv6 extension headers as far as they can be walked: RFC 8200 4."""

    protocol: int
    at: int  # where it begins
    part: Part | None = None  # from a fragment header, atomic ones (RFC 6946) too
    failure: str = ""  # the verdict for what stopped the walk too early


def walk(data: bytes, kind: int, at: int) -> Chain:
    chain, start, count = Chain(kind, at), at, 0
    while chain.protocol in WALKED:
        kind, at, count = chain.protocol, chain.at, count + 1
        is_first = chain.part is not None and chain.part.more
        cut = "drop_tiny_fragment" if is_first else "drop_ipv6_extension"  # RFC 7112
        if count > MOST_HEADERS:
            chain.failure = "drop_ipv6_extension"
        elif at + 8 > len(data):
            chain.failure = cut
        elif kind == FRAGMENT and chain.part:
            chain.failure = "drop_malformed_fragment"  # RFC 8200 4.1: once
        if chain.failure:
            return chain
        size = {FRAGMENT: 8, AH: (data[at + 1] + 2) * 4}.get(kind, (data[at + 1] + 1) * 8)
        if at + size > len(data) or at + size - start > MOST_BYTES:
            chain.failure = cut if at + size > len(data) else "drop_ipv6_extension"
            return chain
        chain.protocol, chain.at = data[at], at + size
        if kind == FRAGMENT:
            field, identification = struct.unpack_from("!HI", data, at + 2)
            chain.part = Part(field >> 3, field & 1 != 0, identification, at - start,
                              len(data) - at - size)
            if chain.part.offset != 0:
                return chain  # what follows is the middle of something
    if chain.protocol == NOTHING:
        chain.failure = "drop_ipv6_extension"
    return chain


def _parse_ipv6(data: bytes) -> Packet:
    """RFC 8200 3."""
    if len(data) < 40 or data[0] >> 4 != 6:
        raise Drop("drop_malformed_ipv6")
    payload = struct.unpack_from("!H", data, 4)[0]
    if 40 + payload > min(len(data), 0xFFFF):
        raise Drop("drop_malformed_ipv6")
    data = data[:40 + payload]
    if data[7] == 0:
        raise Drop("drop_ttl_zero")
    chain = walk(data, data[6], 40)
    part = chain.part if chain.part and (chain.part.more or chain.part.offset) else None
    if part and not part.is_sound():
        raise Drop("drop_malformed_fragment")
    if chain.failure:
        raise Drop(chain.failure)
    return Packet(data, data[8:24], data[24:40], chain.protocol, chain.at,
                  (data[0] & 15) << 4 | data[1] >> 4, part)


def _check_fragment(packet: Packet) -> None:
    """RFC 3128, and no parts of ICMP. A later IPv6 fragment's protocol is not believed."""
    if packet.later and packet.part.offset == 1 and packet.protocol == TCP:
        raise Drop("drop_tiny_fragment")
    if packet.part and packet.icmp and (packet.v4 or not packet.later):
        raise Drop("drop_fragment")


def _check_transport(packet: Packet) -> None:
    """RFC 9293 3.1, RFC 768; of first fragments RFC 1858 3, RFC 7112."""
    if packet.later:
        return
    failure = "drop_tiny_fragment" if packet.part else "drop_malformed_transport"
    size = len(packet.payload)
    if packet.protocol == UDP and size < 8:
        raise Drop(failure)
    if packet.protocol == TCP:
        words = packet.payload[12] >> 4 if size >= 20 else 0
        if words < 5 or words * 4 > size:
            raise Drop(failure)


def parse(kind: int, data: bytes) -> Packet:
    """REQUIRES: `kind` is IPV4 or IPV6."""
    packet = _parse_ipv4(data) if kind == IPV4 else _parse_ipv6(data)
    _check_fragment(packet)
    _check_transport(packet)
    return packet
