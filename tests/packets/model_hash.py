"""The flow hash and the pool table of docs/HASHING.md, in Python's whole numbers."""

import functools
import socket
import struct

MASK = (1 << 64) - 1

# The first 48 bytes of pi's fraction, under which a seed is expanded.
FIXED_KEY = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0,
             0x082EFA98EC4E6C89, 0x452821E638D01377, 0xBE5466CF34E90C6C)


def mix(a: int, b: int) -> int:
    product = (a & MASK) * (b & MASK)
    return (product & MASK) ^ (product >> 64)


def hash_bytes(data: bytes, salt: int, k: tuple[int, ...]) -> int:
    h = mix(len(data) ^ k[0], salt ^ k[1])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8].ljust(8, b"\0"), "little")
        h = (mix(h ^ k[2], word ^ k[3]) + k[4]) & MASK
    return mix(h ^ k[5], k[2])


@functools.lru_cache
def key_from_seed(seed: bytes) -> tuple[int, ...]:
    return tuple(hash_bytes(seed, i, FIXED_KEY) for i in range(6))


def flow_hash(source: bytes, destination: bytes, source_port: int, destination_port: int,
              protocol: int, k: tuple[int, ...]) -> int:
    """Addresses as on the wire, 4 or 16 bytes; ports as numbers."""
    wire = struct.pack("!HH", source_port, destination_port)
    ports = int.from_bytes(wire, "little") | protocol << 32
    words = [int.from_bytes((source + destination)[i:i + 8], "little")
             for i in range(0, 2 * len(source), 8)]
    if len(source) == 4:
        return mix(mix(words[0] ^ k[0], ports ^ k[1]) ^ k[2], k[3])
    s = mix(words[0] ^ k[0], words[1] ^ k[1])
    d = mix(words[2] ^ k[2], words[3] ^ k[3])
    return mix(mix(s ^ k[4], d ^ ports ^ k[5]) ^ k[2], k[3])


def text_of(address: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)


def slot_of(bits: int, size: int) -> int:
    return (bits >> 32) * size >> 32


# RFC 8200 section 4.1, RFC 4302: headers that may stand before TCP and UDP.
_EXTENSIONS = (0, 43, 44, 51, 60)
_FRAGMENT, _AH = 44, 51


def transport_of(packet: bytes) -> tuple[int, int]:
    """Protocol and offset of what an IP packet carries. REQUIRES: the packet is well-formed."""
    if packet[0] >> 4 == 4:
        return packet[9], (packet[0] & 15) * 4
    protocol, at = packet[6], 40
    while protocol in _EXTENSIONS:
        following, length = packet[at], packet[at + 1]
        size = 8 if protocol == _FRAGMENT else (length + 2) * 4 if protocol == _AH else (
            (length + 1) * 8)
        protocol, at = following, at + size
    return protocol, at


def flow_of_packet(packet: bytes) -> tuple[bytes, bytes, tuple[int, int], int]:
    """Source, destination, ports (0 when neither TCP nor UDP) and protocol of an IP packet."""
    source, destination = ((packet[12:16], packet[16:20]) if packet[0] >> 4 == 4 else
                           (packet[8:24], packet[24:40]))
    protocol, at = transport_of(packet)
    ports = struct.unpack_from("!HH", packet, at) if protocol in (6, 17) else (0, 0)
    return source, destination, ports, protocol


def hash_of_packet(packet: bytes, k: tuple[int, ...]) -> int:
    source, destination, ports, protocol = flow_of_packet(packet)
    return flow_hash(source, destination, *ports, protocol, k)


def _turns(weights: tuple[int, ...]):
    """Who takes a slot next, without end: indices of the backends, in order of their turns."""
    order = [b for b, weight in enumerate(weights) if weight > 0]
    total = sum(weights)
    yield from order
    time = 0
    taken = [1] * len(weights)
    while True:
        for b in order:
            while (2 * taken[b] + 1) * total // (2 * weights[b]) == time:
                taken[b] += 1
                yield b
        time += 1


@functools.lru_cache
def maglev(addresses: tuple[bytes, ...], weights: tuple[int, ...], size: int,
           k: tuple[int, ...]) -> list[int | None]:
    """Owner of each slot, as an index into `addresses`, which are in canonical order."""
    owners: list[int | None] = [None] * size
    if not any(weights):
        return owners
    position = [hash_bytes(a, 1, k) % size for a in addresses]
    skip = [hash_bytes(a, 2, k) % (size - 1) + 1 for a in addresses]
    left = size
    for b in _turns(weights):
        while owners[position[b]] is not None:
            position[b] = (position[b] + skip[b]) % size
        owners[position[b]] = b
        left -= 1
        if left == 0:
            return owners
    return owners


def stand_in(slot: int, owners: list[int | None], usable: set[int],
             k: tuple[int, ...]) -> int | None:
    """Who takes the new flows of a slot whose owner takes none; None: not found in 64 probes."""
    h = mix(slot ^ k[4], k[5])
    for _ in range(64):
        h = mix(h ^ k[0], k[1])
        owner = owners[slot_of(h, len(owners))]
        if owner in usable:
            return owner
    return None
