"""ARP (RFC 826) and neighbor discovery (RFC 4861), where gateways' MAC addresses are given."""

import struct

from model_config import Port
from model_parse import Drop, Packet
from model_wrap import transport_checksum

SOLICITATION, ADVERTISEMENT = 135, 136
ALL_NODES = bytes.fromhex("ff02" + "00" * 13 + "01")


def _is_for_us(frame: bytes, port: Port) -> bool:
    """To the port, or to a group."""
    return frame[:6] == port.mac or frame[0] & 1 != 0


def _tag(port: Port) -> bytes:
    return struct.pack("!HH", 0x8100, port.vlan) if port.vlan else b""


def arp(frame: bytes, data: bytes, port: Port):
    """Outcome of an ARP frame."""
    if not _is_for_us(frame, port):
        raise Drop("drop_not_our_mac")
    if len(data) < 28 or data[:6] != b"\0\1\x08\0\6\4":
        raise Drop("drop_malformed_neighbor")
    ours = [a.address for a in port.addresses]
    if data[6:8] != b"\0\1" or data[24:28] not in ours:
        return "learned_neighbor", []
    reply = data[:6] + b"\0\2" + port.mac + data[24:28] + data[8:18]
    return "answered_arp", [(port.index, data[8:14] + port.mac + _tag(port) + b"\x08\x06" + reply)]


def is_discovery(packet: Packet) -> bool:
    return packet.icmp and not packet.v4 and packet.payload[:1] in (b"\x87", b"\x88")


def _is_well_formed(packet: Packet) -> bool:
    """RFC 4861 7.1.1 and 7.1.2."""
    message = packet.payload
    right = (packet.data[7] == 255 and len(message) >= 24 and message[1] == 0 and
             transport_checksum(packet.source, packet.destination, 58, message) == 0 and
             message[8] != 0xFF)
    at = 24
    while right and at < len(message):
        size = message[at + 1] * 8 if at + 1 < len(message) else 0
        right = size > 0 and at + size <= len(message)
        at += size
    if message[:1] == bytes([SOLICITATION]) and packet.source == bytes(16):
        # RFC 4861 7.1.1: to the solicited-node group, without the source's link-layer address.
        right = right and packet.destination[:13] == bytes.fromhex("ff0200000000000000000001ff")
        right = right and len(message) == 24
    return right


def discovery(frame: bytes, packet: Packet, port: Port):
    """Outcome of a neighbor solicitation or advertisement."""
    if not _is_for_us(frame, port):
        raise Drop("drop_not_our_mac")
    if not _is_well_formed(packet):
        raise Drop("drop_malformed_neighbor")
    target = packet.payload[8:24]
    if packet.payload[0] != SOLICITATION or target not in [a.address for a in port.addresses]:
        return "learned_neighbor", []
    return "answered_ndp", [(port.index, _advertisement(frame, packet, port, target))]


def _advertisement(frame: bytes, packet: Packet, port: Port, target: bytes) -> bytes:
    """RFC 4861 7.2.4: override, with the port's MAC address; to all nodes if nobody is named."""
    solicited = packet.source != bytes(16)
    destination = packet.source if solicited else ALL_NODES
    to = frame[6:12] if solicited else b"\x33\x33" + ALL_NODES[12:]
    flags = 0x60 if solicited else 0x20
    body = bytes([flags, 0, 0, 0]) + target + b"\2\1" + port.mac
    total = transport_checksum(target, destination, 58, bytes([ADVERTISEMENT, 0, 0, 0]) + body)
    message = bytes([ADVERTISEMENT, 0]) + struct.pack("!H", total) + body
    head = struct.pack("!IHBB", 6 << 28, len(message), 58, 255)
    return to + port.mac + _tag(port) + b"\x86\xdd" + head + target + destination + message
