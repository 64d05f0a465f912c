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
class Packet:
    """An IP packet, padding cut off."""

    data: bytes
    source: bytes
    destination: bytes
    protocol: int
    l4: int  # offset of what the IP header and its extensions carry
    tos: int  # or traffic class
    fragment: bool = False  # part of a datagram
    offset: int = 0  # of a fragment, in units of 8 bytes

    @property
    def v4(self) -> bool:
        return len(self.source) == 4

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
    return Packet(data, data[12:16], data[16:20], data[9], header, data[1],
                  offset != 0 or more, offset)


def walk(data: bytes, kind: int, at: int, failure: str) -> tuple[int, int, bool, int]:
    """Protocol, its offset, whether it is a fragment, the fragment's offset. RFC 8200 4."""
    count, start, fragment, offset = 0, at, False, 0
    while kind in WALKED:
        count += 1
        if count > MOST_HEADERS or at + 8 > len(data):
            raise Drop(failure)
        following, length = data[at], data[at + 1]
        size = {FRAGMENT: 8, AH: (length + 2) * 4}.get(kind, (length + 1) * 8)
        if at + size > len(data) or at + size - start > MOST_BYTES:
            raise Drop(failure)
        if kind == FRAGMENT:
            field = struct.unpack_from("!H", data, at + 2)[0]
            offset, fragment = field >> 3, fragment or field >> 3 != 0 or field & 1 != 0
            if offset != 0:  # what follows is the middle of something
                return following, at + size, True, offset
        kind, at = following, at + size
    if kind == NOTHING:
        raise Drop(failure)
    return kind, at, fragment, offset


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
    protocol, l4, fragment, offset = walk(data, data[6], 40, "drop_ipv6_extension")
    return Packet(data, data[8:24], data[24:40], protocol, l4,
                  (data[0] & 15) << 4 | data[1] >> 4, fragment, offset)


def _check_fragment(packet: Packet) -> None:
    """RFC 1858 3, RFC 3128, RFC 7112."""
    if not packet.fragment:
        return
    least = {TCP: 16, UDP: 8}.get(packet.protocol, 0)
    first_is_tiny = packet.offset == 0 and len(packet.payload) < least
    if first_is_tiny or packet.protocol == TCP and packet.offset == 1:
        raise Drop("drop_tiny_fragment")
    raise Drop("drop_fragment")


def _check_transport(packet: Packet) -> None:
    """RFC 9293 3.1, RFC 768."""
    size = len(packet.payload)
    if packet.protocol == UDP and size < 8:
        raise Drop("drop_malformed_transport")
    if packet.protocol == TCP:
        words = packet.payload[12] >> 4 if size >= 20 else 0
        if words < 5 or words * 4 > size:
            raise Drop("drop_malformed_transport")


def parse(kind: int, data: bytes) -> Packet:
    """REQUIRES: `kind` is IPV4 or IPV6."""
    packet = _parse_ipv4(data) if kind == IPV4 else _parse_ipv6(data)
    _check_fragment(packet)
    _check_transport(packet)
    return packet
