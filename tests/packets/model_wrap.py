"""Headers in front of a packet, and what becomes of one that is too big: sections 5 and 7."""

import struct

from model_config import Port, Prefix, Service
from model_parse import IPV4, IPV6, checksum

GUE_PORT = 6080
ICMP_QUOTE4, ICMP_QUOTE6 = 548, 1232  # 576 and 1280 bytes with headers
LEAST_ROOM = 1280
COPIED = 0x80  # RFC 791 3.1: the option is in every fragment
END_OF_OPTIONS, NO_OPERATION = 0, 1

OVERHEAD = {"l2": 0, "ipip": 0, "gre": 4, "gue": 12}  # behind the outer IP header


def overhead(encapsulation: str, backend: bytes) -> int:
    outer = {4: 20, 16: 40}[len(backend)]
    return 0 if encapsulation == "l2" else outer + OVERHEAD[encapsulation]


def link(port: Port, to: bytes, packet: bytes) -> bytes:
    """A frame from the port, with its tag: TPID 0x8100, priority 0."""
    tag = struct.pack("!HH", 0x8100, port.vlan) if port.vlan else b""
    kind = IPV4 if packet[0] >> 4 == 4 else IPV6
    return to + port.mac + tag + struct.pack("!H", kind) + packet


def ipv4(source: bytes, destination: bytes, protocol: int, tos: int, payload: bytes) -> bytes:
    """RFC 791, RFC 6864 4.1: IHL 5, ID 0, DF, TTL 64."""
    head = struct.pack("!BBHHHBB", 0x45, tos, 20 + len(payload), 0, 0x4000, 64, protocol)
    total = checksum(head + b"\0\0" + source + destination)
    return head + struct.pack("!H", total) + source + destination + payload


def ipv6(source: bytes, destination: bytes, protocol: int, tos: int, label: int,
         payload: bytes) -> bytes:
    """RFC 8200 3: hop limit 64."""
    head = struct.pack("!IHBB", 6 << 28 | tos << 20 | label, len(payload), protocol, 64)
    return head + source + destination + payload


def transport_checksum(source: bytes, destination: bytes, protocol: int, data: bytes) -> int:
    """RFC 8200 8.1, over IPv6."""
    return checksum(source + destination + struct.pack("!II", len(data), protocol) + data)


def outer_source(prefix: Prefix | None, port: Port, size: int, flow_hash: int) -> bytes:
    """The port's address, or the flow's own one of `outer_source_prefix`."""
    if prefix is None or len(prefix.address) != size:
        return port.address(size)
    bits = 8 * size - prefix.length
    mask = (1 << bits) - 1
    host = flow_hash & mask & (0xFFFFFFFF if size == 4 else 0xFFFFFFFFFFFFFFFF)
    if size == 4 and bits >= 2:
        host = 1 if host == 0 else mask - 1 if host == mask else host
    if size == 16 and bits >= 1 and host == 0:
        host = 1  # RFC 4291 2.6.1
    return (int.from_bytes(prefix.address, "big") & ~mask | host).to_bytes(size, "big")


def wrap(service: Service, port: Port, backend: bytes, flow_hash: int, packet: bytes) -> bytes:
    """The packet with its outer headers, from the IP header on."""
    if service.encapsulation == "l2":
        return packet
    inside_v4 = packet[0] >> 4 == 4
    tos = packet[1] if inside_v4 else (packet[0] & 15) << 4 | packet[1] >> 4
    protocol = 4 if inside_v4 else 41
    size = len(backend)
    source = outer_source(service.outer_source, port, size, flow_hash)
    payload = packet
    if service.encapsulation == "gre":
        payload = struct.pack("!HH", 0, IPV4 if inside_v4 else IPV6) + packet
        protocol = 47
    elif service.encapsulation == "gue":
        payload = _gue(service, source, backend, flow_hash, protocol, packet)
        protocol = 17
    if size == 4:
        return ipv4(source, backend, protocol, tos, payload)
    return ipv6(source, backend, protocol, tos, flow_hash >> 44 or 1, payload)


def _gue(service: Service, source: bytes, backend: bytes, flow_hash: int, protocol: int,
         packet: bytes) -> bytes:
    """UDP, then variant 0 and the protocol of the packet (draft-ietf-intarea-gue)."""
    sport = 49152 + (flow_hash & 0x3FFF)
    ports = struct.pack("!HHH", sport, GUE_PORT, 12 + len(packet))
    body = bytes([0, protocol, 0, 0]) + packet
    total = 0
    if len(backend) == 16 and not service.gue_zero:
        total = transport_checksum(source, backend, 17, ports + b"\0\0" + body) or 0xFFFF
    return ports + struct.pack("!H", total) + body


def _copied_options(options: bytes) -> bytes:
    """RFC 791 3.1: those of later fragments, filled up to four bytes."""
    kept, at = b"", 0
    while at < len(options) and options[at] != END_OF_OPTIONS:
        size = 1 if options[at] == NO_OPERATION else (
            options[at + 1] if at + 1 < len(options) else 0)
        if size == 0 or at + size > len(options):
            break  # what follows cannot be read
        if options[at] & COPIED:
            kept += options[at:at + size]
        at += size
    return kept + bytes(-len(kept) % 4)


def cut(packet: bytes, room: int) -> list[bytes]:
    """Fragments of an IPv4 packet, or of a fragment, each as long as fits (RFC 791 3.2)."""
    header = (packet[0] & 15) * 4
    field = struct.unpack_from("!H", packet, 6)[0]
    options, payload = packet[20:header], packet[header:]
    fragments, at = [], 0
    while at < len(payload):
        mine = options if at == 0 else _copied_options(options)
        left = len(payload) - at
        fits = room - 20 - len(mine)
        last = left <= fits
        size = left if last else fits // 8 * 8
        word = (field if last else field | 0x2000) & 0xE000
        word |= (field & 0x1FFF) + at // 8
        head = (bytes([0x40 | (20 + len(mine)) // 4, packet[1]]) +
                struct.pack("!H", 20 + len(mine) + size) + packet[4:6] +
                struct.pack("!H", word) + packet[8:10] + b"\0\0" + packet[12:20] + mine)
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        fragments.append(head + payload[at:at + size])
        at += size
    return fragments


def too_big(source: bytes, destination: bytes, packet: bytes, room: int) -> bytes:
    """RFC 1191 4, RFC 1812 4.3.2.3; RFC 4443 3.2."""
    if len(source) == 4:
        body = struct.pack("!HH", 0, room) + packet[:ICMP_QUOTE4]
        total = checksum(b"\x03\x04\0\0" + body)
        return ipv4(source, destination, 1, 0xC0, b"\x03\x04" + struct.pack("!H", total) + body)
    body = struct.pack("!I", max(room, LEAST_ROOM)) + packet[:ICMP_QUOTE6]
    return icmpv6(source, destination, 0, 2, body)


def icmpv6(source: bytes, destination: bytes, tos: int, kind: int, body: bytes) -> bytes:
    total = transport_checksum(source, destination, 58, bytes([kind, 0, 0, 0]) + body)
    return ipv6(source, destination, 58, tos, 0, bytes([kind, 0]) + struct.pack("!H", total) + body)
