"""The words in which the packet cases are written: addresses, frames and outer headers.

Outer headers are spelled out from the RFCs that docs/PACKETS.md names; nothing here is read from
the program under test. Addresses are those of setups/*.yaml.
"""

import logging
import struct
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from scapy.all import (AH, ARP, GRE, ICMP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMPerror, IPerror,
                       ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA,
                       ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_RS, ICMPv6ND_Redirect,
                       ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, ICMPv6PacketTooBig,
                       ICMPv6ParamProblem, ICMPv6TimeExceeded, IPOption_EOL, IPOption_NOP,
                       IPOption_RR, IPOption_Router_Alert, IPv6, IPv6ExtHdrDestOpt,
                       IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN, Raw,
                       in6_chksum, mac2str, raw)

import model_hash

# It speaks of checksums that cases leave wrong on purpose.
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)

PORT_MAC = "02:70:63:61:70:00"  # of the first net_pcap device
PORT1_MAC = "02:70:63:61:70:01"
GATEWAY_MAC = "02:00:00:00:00:fe"
ROUTER_MAC = "02:00:00:00:00:99"  # whence frames come
OTHER_MAC = "02:00:00:00:00:77"
L2_MAC = "02:00:00:00:00:21"  # of an l2 backend

CLIENT4, CLIENT6 = "192.0.2.1", "2001:db8:c::1"
DENIED4, DENIED6 = "192.0.2.200", "2001:db8:dead::1"
ROUTER4, ROUTER6 = "192.0.2.254", "2001:db8:ffff::1"  # on the way, sends ICMP errors
GATEWAY4, GATEWAY6 = "198.51.100.1", "2001:db8:1::1"
PORT4, PORT6 = "198.51.100.11", "2001:db8:1::11"
VIP4, VIP6 = "203.0.113.10", "2001:db8:53::10"
BACKEND4, BACKEND6 = "10.1.0.11", "2001:db8:9::11"  # the only one of pools four and six
L2_BACKEND4, L2_BACKEND6 = "198.51.100.21", "2001:db8:1::21"
SEED = "the seed of the packet cases"

ETH = Ether(dst=PORT_MAC, src=ROUTER_MAC)  # a frame to penstock
ETH4 = Ether(dst=PORT_MAC, src=ROUTER_MAC, type=0x0800)  # ... whatever comes behind it
ETH6 = Ether(dst=PORT_MAC, src=ROUTER_MAC, type=0x86DD)
OUT = Ether(dst=GATEWAY_MAC, src=PORT_MAC)  # a frame from penstock

TCP4 = IP(src=CLIENT4, dst=VIP4) / TCP(sport=40000, dport=80)
TCP6 = IPv6(src=CLIENT6, dst=VIP6) / TCP(sport=40000, dport=80)
UDP4 = IP(src=CLIENT4, dst=VIP4) / UDP(sport=5000, dport=53)
UDP6 = IPv6(src=CLIENT6, dst=VIP6) / UDP(sport=5000, dport=53)

GUE_PORT = 6080

# Answers of the l2 backends to what penstock asked.
OUR_ARP_REPLY4 = Ether(dst=PORT_MAC, src=L2_MAC) / ARP(
    op=2, hwsrc=L2_MAC, psrc=L2_BACKEND4, hwdst=PORT_MAC, pdst=PORT4)
OUR_ADVERTISEMENT6 = (
    Ether(dst=PORT_MAC, src=L2_MAC) / IPv6(src=L2_BACKEND6, dst=PORT6, hlim=255) /
    ICMPv6ND_NA(R=0, S=1, O=1, tgt=L2_BACKEND6) / ICMPv6NDOptDstLLAddr(lladdr=L2_MAC))

# Pools of which the model chooses the backend: addresses and weights, tables of 101 slots.
FIVE4 = {"10.5.0.1": 100, "10.5.0.2": 100, "10.5.0.3": 200, "10.5.0.4": 100, "10.5.0.5": 50}
FIVE6 = {f"2001:db8:5::{i}": 100 for i in range(1, 6)}
REWEIGHTED4 = {"10.5.0.1": 10, "10.5.0.2": 300, "10.5.0.3": 50, "10.5.0.4": 10, "10.5.0.5": 300}
WITHOUT3 = {a: w for a, w in FIVE4.items() if a != "10.5.0.3"}
TWO4 = {"10.5.0.1": 100, "10.5.0.2": 100}
VPP4 = {f"10.0.0.{i}": 100 for i in range(5)}
VPP6 = {f"2002::{i}": 100 for i in range(1, 6)}
SLOTS = 101


def hexa(text):
    """Bytes from hexadecimal digits; blanks are for the reader."""
    return Raw(bytes.fromhex(text))


def cut(packet, size):
    """The first `size` bytes of a packet or frame."""
    return Raw(raw(packet)[:size])


def flip(frame, at, bits=1):
    """`frame` with bits of the byte at offset `at` turned over."""
    changed = bytearray(raw(frame))
    changed[at] ^= bits
    return Raw(bytes(changed))


def data(size):
    """Payload of `size` bytes, all positions different enough to notice a shift."""
    return Raw(bytes((7 * i + i // 256 + 1) % 256 for i in range(size)))


def padded(packet, size=60, byte=0xAA):
    """A frame filled up with bytes that must not leave again."""
    frame = raw(packet)
    return Raw(frame + bytes([byte]) * (size - len(frame)))


def chain(kind, count, source=CLIENT6, destination=VIP6):
    """IPv6 with `count` extension headers of 8 bytes (padding inside); TCP is to follow."""
    kinds = [kind] * count + [6]
    headers = b"".join(bytes([k, 0, 1, 4, 0, 0, 0, 0]) for k in kinds[1:])
    return IPv6(src=source, dst=destination, nh=kinds[0]) / Raw(headers)


def part(packet, at, size, more=False, id6=9):
    """The fragment of a packet without options and extensions that holds `size` bytes from `at` on.
    `id6`: identification when it is IPv6; IPv4 has its own."""
    whole = raw(packet)
    if whole[0] >> 4 == 6:
        header = IPv6(whole[:40])
        body = IPv6ExtHdrFragment(nh=header.nh, offset=at // 8, m=int(more), id=id6) / Raw(
            whole[40 + at:40 + at + size])
        header.nh, header.plen = 44, len(body)
        return header / body
    header = IP(whole[:20])
    del header.len, header.chksum
    header.frag, header.flags = at // 8, int(header.flags) & 6 | int(more)
    return header / Raw(whole[20 + at:20 + at + size])


def fragments(packet, payload, id6=9):
    """The packet cut at multiples of `payload` bytes, as a sender does it (RFC 791, RFC 8200)."""
    body = len(raw(packet)) - (20 if raw(packet)[0] >> 4 == 4 else 40)
    return [part(packet, at, payload, at + payload < body, id6) for at in range(0, body, payload)]


def later4(at, size, protocol=17, more=False, **fields):
    """A later IPv4 fragment that holds any bytes."""
    values = {"src": CLIENT4, "dst": VIP4, "frag": at // 8, "flags": int(more), "proto": protocol}
    return IP(**{**values, **fields}) / data(size)


def later6(at, size, protocol=17, more=False, identification=9, **fields):
    """A later IPv6 fragment that holds any bytes."""
    return (IPv6(**{"src": CLIENT6, "dst": VIP6, **fields}) /
            IPv6ExtHdrFragment(nh=protocol, offset=at // 8, m=int(more), id=identification) /
            data(size))


def _traffic_class(packet):
    """TOS of IPv4, traffic class of IPv6."""
    first, second = raw(packet)[:2]
    return second if first >> 4 == 4 else (first & 15) << 4 | second >> 4


def _protocol_of(packet):
    return 4 if raw(packet)[0] >> 4 == 4 else 41


def flow_hash(packet, seed=SEED):
    """The flow hash of docs/HASHING.md, by the model's own arithmetic."""
    return model_hash.hash_of_packet(raw(packet), model_hash.key_from_seed(seed.encode()))


def label(packet):
    """Flow label of the outer IPv6 header: RFC 6438; bits 44..63 of the hash, 1 instead of 0."""
    return flow_hash(packet) >> 44 or 1


def gue_port(packet):
    """Source port of GUE: 49152 and bits 0..13 of the hash."""
    return 49152 + (flow_hash(packet) & 0x3FFF)


def slot(packet, kind="five_tuple", seed=SEED):
    """The slot of a packet, by the fields that the service's `hash` names."""
    source, destination, ports, protocol = model_hash.flow_of_packet(raw(packet))
    if kind != "five_tuple":
        ports, protocol = (ports[0] if kind == "source_address_port" else 0, 0), 0
    k = model_hash.key_from_seed(seed.encode())
    return model_hash.slot_of(model_hash.flow_hash(source, destination, *ports, protocol, k), SLOTS)


def _key(seed):
    return model_hash.key_from_seed(seed.encode())


def _table(pool, seed):
    addresses = [inet_pton(AF_INET6 if ":" in a else AF_INET, a) for a in pool]
    return model_hash.maglev(tuple(addresses), tuple(pool.values()), SLOTS, _key(seed))


def choose(packet, pool, kind="five_tuple", seed=SEED):
    """The backend of `pool` ({address: weight}) for the packet, by the model's own table."""
    return list(pool)[_table(pool, seed)[slot(packet, kind, seed)]]


def newcomer(packet, pool, retired, seed=SEED):
    """The backend for a new flow when those in `retired` take none."""
    owners, names, s = _table(pool, seed), list(pool), slot(packet, seed=seed)
    if names[owners[s]] not in retired:
        return names[owners[s]]
    usable = {i for i, name in enumerate(names) if name not in retired}
    return names[model_hash.stand_in(s, owners, usable, _key(seed))]


def _port_where(condition, transport, dport):
    """The first source port from 30000 on for which the packet of CLIENT4 fulfils `condition`."""
    packets = ((port, IP(src=CLIENT4, dst=VIP4) / transport(sport=port, dport=dport))
               for port in range(30000, 31000))
    return next(port for port, packet in packets if condition(packet))


def held(pool, backend, transport=TCP, dport=81):
    """A source port whose flow the table gives to `backend`."""
    return _port_where(lambda p: choose(p, pool) == backend, transport, dport)


def moving_port(pool, other, transport=TCP, dport=81):
    """A source port whose flow two pools give to different backends."""
    return _port_where(lambda p: choose(p, pool) != choose(p, other), transport, dport)


def split_port(pool, transport=TCP, dport=81):
    """A source port whose flow another `hash` would give to another backend."""
    return _port_where(lambda p: choose(p, pool) != choose(p, pool, "source_address"), transport,
                       dport)


def host4(prefix, bits, packet):
    """Address of an IPv4 outer_source_prefix with the flow's host bits."""
    mask = (1 << 32 - bits) - 1
    host = flow_hash(packet) & mask
    if 32 - bits >= 2:
        host = 1 if host == 0 else mask - 1 if host == mask else host
    return inet_ntop(AF_INET, (int.from_bytes(inet_pton(AF_INET, prefix), "big") | host)
                     .to_bytes(4, "big"))


def host6(prefix, bits, packet):
    """Address of an IPv6 outer_source_prefix with the flow's host bits; RFC 4291 2.6.1."""
    host = flow_hash(packet) & ((1 << 128 - bits) - 1) & ((1 << 64) - 1)
    if bits < 128 and host == 0:
        host = 1
    return inet_ntop(AF_INET6, (int.from_bytes(inet_pton(AF_INET6, prefix), "big") | host)
                     .to_bytes(16, "big"))


def zero_sum(packet, at=60):
    """The IPv6 packet with the word at `at` such that the UDP checksum of gue6() comes out as zero.

    One's complement: with 0 in that word the checksum is the word that makes the sum complete.
    """
    before, behind = raw(packet)[:at], raw(packet)[at + 2:]
    blank = IPv6(before + b"\0\0" + behind)
    checksum = UDP(raw(gue6(blank))[40:]).chksum
    return IPv6(before + struct.pack("!H", checksum) + behind)


def outer4(destination, packet, **fields):
    """RFC 2003, RFC 6864: the IPv4 header in front of `packet` (or a tunnel header before it)."""
    values = {"src": PORT4, "dst": destination, "tos": _traffic_class(packet), "id": 0,
              "flags": "DF", "ttl": 64, "proto": _protocol_of(packet)}
    return IP(**{**values, **fields})


def outer6(destination, packet, **fields):
    """RFC 2473, RFC 6438: the IPv6 header in front of `packet`."""
    values = {"src": PORT6, "dst": destination, "tc": _traffic_class(packet), "hlim": 64,
              "nh": _protocol_of(packet)}
    if "fl" not in fields:
        values["fl"] = label(packet)
    return IPv6(**{**values, **fields})


def ipip4(packet, destination=BACKEND4, **fields):
    """`packet` in IPv4 (RFC 2003, RFC 4213)."""
    return outer4(destination, packet, **fields) / packet


def ipip6(packet, destination=BACKEND6, **fields):
    """`packet` in IPv6 (RFC 2473)."""
    return outer6(destination, packet, **fields) / packet


def _gre(packet):
    """RFC 2784: flags and version 0, the EtherType of the packet."""
    return Raw(struct.pack("!HH", 0, 0x0800 if _protocol_of(packet) == 4 else 0x86DD))


def gre4(packet, destination=BACKEND4, **fields):
    return outer4(destination, packet, proto=47, **fields) / _gre(packet) / packet


def gre6(packet, destination=BACKEND6, **fields):
    return outer6(destination, packet, nh=47, **fields) / _gre(packet) / packet


def _gue(packet, **fields):
    """UDP and the 4 bytes of GUE variant 0 (draft-ietf-intarea-gue)."""
    values = {"sport": gue_port(packet) if "sport" not in fields else 0, "dport": GUE_PORT}
    return UDP(**{**values, **fields}) / Raw(bytes([0, _protocol_of(packet), 0, 0]))


def gue4(packet, destination=BACKEND4, sport=None, **fields):
    """GUE over IPv4: checksum 0."""
    port = {} if sport is None else {"sport": sport}
    return (outer4(destination, packet, proto=17, **fields) / _gue(packet, chksum=0, **port) /
            packet)


def gue6(packet, destination=BACKEND6, sport=None, checksum=None, **fields):
    """GUE over IPv6: the checksum is scapy's (RFC 8200 8.1) unless given."""
    port = {} if sport is None else {"sport": sport}
    sums = {} if checksum is None else {"chksum": checksum}
    return (outer6(destination, packet, nh=17, **fields) / _gue(packet, **port, **sums) / packet)


def icmp6(header, kind, code, rest, body):
    """An ICMPv6 message of any type with the checksum of RFC 4443 2.3; `rest`: its second word."""
    message = struct.pack("!BBHI", kind, code, 0, rest) + raw(body)
    checksum = in6_chksum(58, header, message)
    header = header.copy()
    header.nh = 58
    return header / Raw(struct.pack("!BBHI", kind, code, checksum, rest) + raw(body))


def flow6(sport, dport):
    """A packet of the IPv6 client of the scenarios."""
    return IPv6(src="fd91:79d3:d621::1234", dst=VIP6) / TCP(sport=sport, dport=dport)


def quote(packet, size=None):
    """What an ICMP error quotes: the packet, or its first bytes."""
    return Raw(raw(packet)[:size])


def answer4(source, destination, **fields):
    """IPv4 header of ICMP of our own making."""
    values = {"src": source, "dst": destination, "id": 0, "flags": "DF", "ttl": 64, "proto": 1}
    return IP(**{**values, **fields})


def too_big4(packet, mtu, source=VIP4, destination=CLIENT4):
    """RFC 1191 section 4, RFC 1812 4.3.2.3: 576 bytes at most, precedence 6."""
    return (answer4(source, destination, tos=0xC0) /
            ICMP(type=3, code=4, unused=0, nexthopmtu=mtu) / quote(packet, 548))


def too_big6(packet, mtu, source=VIP6, destination=CLIENT6):
    """RFC 4443 section 3.2: 1280 bytes at most."""
    return (IPv6(src=source, dst=destination, tc=0, fl=0, hlim=64, nh=58) /
            ICMPv6PacketTooBig(code=0, mtu=mtu) / quote(packet, 1232))
