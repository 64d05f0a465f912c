"""ICMP to a VIP or to us: docs/PACKETS.md section 6."""

import struct

from model_parse import TCP, UDP, Drop, Packet, checksum, walk
from model_wrap import icmpv6, ipv4, transport_checksum

ERRORS4, ERRORS6 = (3, 11, 12), (1, 2, 3, 4)
ECHO4, ECHO6 = 8, 128
HEADER = 8  # bytes of ICMP in front of a quote or of an echo's payload


class Quote:
    """The packet that an ICMP error is about, as far as it is there."""

    def __init__(self, data: bytes, v4: bool):
        self.v4 = v4
        malformed = "drop_icmp_malformed"
        if len(data) < (20 if v4 else 40) or data[0] >> 4 != (4 if v4 else 6):
            raise Drop(malformed)
        if v4:
            self.source, self.destination = data[12:16], data[16:20]
            self.protocol, at = data[9], (data[0] & 15) * 4
            offset = struct.unpack_from("!H", data, 6)[0] & 0x1FFF
            if at < 20 or at > len(data):
                raise Drop(malformed)
        else:
            self.source, self.destination = data[8:24], data[24:40]
            chain = walk(data, data[6], 40)
            if chain.failure:
                raise Drop(malformed)
            self.protocol, at = chain.protocol, chain.at
            offset = chain.part.offset if chain.part else 0
        self.later_fragment = offset != 0
        self.transport = data[at:]

    def is_tunnel(self) -> bool:
        """IP-in-IP, GRE or GUE."""
        gue = self.protocol == UDP and not self.later_fragment and self.ports()[1] == 6080
        return gue or self.protocol in (4, 41, 47)

    def ports(self) -> tuple[int, int]:
        """Of the quoted TCP or UDP header: the VIP's and the client's."""
        if self.protocol not in (TCP, UDP) or self.later_fragment:
            raise Drop("drop_icmp_no_service")
        if len(self.transport) < 8:
            raise Drop("drop_icmp_malformed")
        return struct.unpack_from("!HH", self.transport)


def kind_of(packet: Packet) -> str:
    """What an ICMP message is to us: error, echo or other."""
    if len(packet.payload) < HEADER:
        raise Drop("drop_icmp_malformed")
    kind, code = packet.payload[0], packet.payload[1]
    if kind in (ERRORS4 if packet.v4 else ERRORS6):
        return "error"
    if kind == (ECHO4 if packet.v4 else ECHO6) and code == 0:
        return "echo"
    return "other"


def checksum_is_right(packet: Packet) -> bool:
    if packet.v4:
        return checksum(packet.payload) == 0
    return transport_checksum(packet.source, packet.destination, 58, packet.payload) == 0


def quote_of(packet: Packet) -> Quote:
    return Quote(packet.payload[HEADER:], packet.v4)


def echo_reply(packet: Packet) -> bytes:
    """RFC 1122 3.2.2.6, RFC 4443 4.2: DSCP kept, ECN 0, identifier, sequence and data kept."""
    if not checksum_is_right(packet):
        raise Drop("drop_icmp_malformed")
    tos, body = packet.tos & 0xFC, packet.payload[4:]
    if not packet.v4:
        return icmpv6(packet.destination, packet.source, tos, 129, body)
    total = struct.pack("!H", checksum(b"\0\0\0\0" + body))
    return ipv4(packet.destination, packet.source, 1, tos, b"\0\0" + total + body)


def reported_mtu(packet: Packet) -> int:
    """Of "fragmentation needed" or "packet too big"; another type is told by name."""
    kind, code = packet.payload[0], packet.payload[1]
    if (kind, code) != ((3, 4) if packet.v4 else (2, 0)):
        raise Drop("drop_icmp_type")
    if not checksum_is_right(packet):
        raise Drop("drop_icmp_malformed")
    return struct.unpack_from("!H", packet.payload, 6)[0] if packet.v4 else (
        struct.unpack_from("!I", packet.payload, 4)[0])
