"""The hash by which a NIC spreads packets over its queues (Microsoft's specification of RSS)."""

import ipaddress

# The key of the specification's example, which DPDK's virtio driver uses when it is given none,
# with a table of entries that take the queues in turn.
_KEY = int("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa", 16)
_KEY_BITS = 320


def tcp_hash(source, source_port, destination, destination_port):
    """The 32 bits of a TCP packet; they modulo the number of queues, if a power of two, name its
    queue."""
    data = b"".join([*(ipaddress.ip_address(one).packed for one in (source, destination)),
                     *(port.to_bytes(2, "big") for port in (source_port, destination_port))])
    result = 0
    for i in range(len(data) * 8):
        if data[i // 8] & 0x80 >> i % 8:
            result ^= _KEY >> (_KEY_BITS - 32 - i) & 0xFFFFFFFF
    return result
