"""Random frames of every kind for setups/rich.*.yaml: right ones, and right ones with mistakes.

Everything comes from the random.Random given, so that a seed names a run.
"""

import random
import struct

from scapy.all import (ARP, ICMP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMPv6EchoRequest, IPv6, Raw,
                       raw)

import words
from model_parse import checksum
from random_fragments import Streams

SECOND = 1000  # milliseconds
STREAMS = 0.08  # share of streams of fragments, about a third of the frames
VIPS4 = ["203.0.113.10"] * 7 + ["203.0.113.64", "203.0.113.70", "203.0.113.127", "203.0.113.74",
                                "203.0.113.75", "203.0.113.30"]
VIPS6 = ["2001:db8:53::10"] * 6 + ["2001:db8:54::1", "2001:db8:54::ffff", "2001:db8:54::74",
                                   "2001:db8:53::30"]
STRANGERS4 = ["203.0.113.63", "203.0.113.128", "198.51.100.77", "8.8.8.8"]
STRANGERS6 = ["2001:db8:53::11", "2001:db8:55::1", "fe80::77"]
OWN4, OWN6 = ["198.51.100.11", "192.168.7.11"], ["2001:db8:1::11", "2001:db8:7::11"]
BACKENDS4 = ["10.1.0.1", "10.2.0.1", "10.2.0.2", "10.3.0.2", "192.168.7.21"]
BACKENDS6 = ["2001:db8:9::1", "2001:db8:a::1", "2001:db8:7::21"]
ODD4 = ["0.0.0.0", "127.0.0.1", "224.0.0.5", "255.255.255.255", "240.0.0.1", "203.0.113.10",
        "10.64.3.4", "10.65.0.9", "10.66.0.3", *BACKENDS4, *OWN4]
ODD6 = ["::", "::1", "ff02::1", "2001:db8:53::10", "2001:db8:64::5", "fe80::1", *BACKENDS6, *OWN6]
PORTS = [80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 6050, 6080, 9]
FEW_PORTS = {"203.0.113.30": [80, 80, 80, 9], "2001:db8:53::30": [80, 80, 80, 9],
             "2001:db8:53::10": [80, 81, 82, 82, 83, 84, 85]}
MACS = [words.PORT_MAC, words.PORT1_MAC]
# Around where packets stop to fit: 1500 and 1400 less each overhead.
EDGES = [1500 - x for x in (0, 20, 24, 32, 40, 44, 52)] + [1400, 1380, 1280]


class Generator:
    """Frames without end, each with the port it comes in by."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self._streams = Streams(self)
        self._coming: list[tuple[int, bytes]] = []  # the rest of a stream of fragments

    def frame(self) -> tuple[int, int, bytes]:
        """Milliseconds that pass before it, port and bytes."""
        pick = self.random.random()
        port = self.random.choice((0, 0, 0, 1))
        if not self._coming and self.random.random() < STREAMS:
            self._coming = self._streams.stream()
        if self._coming:
            pause, data = self._coming.pop(0)
            frame = self._link(data, port)
            return pause, port, self._spoil(frame) if pick < 0.05 else frame
        if pick < 0.02:
            return SECOND, port, self.random.choice((self._arp, self._solicitation))(port)
        data = raw(self._packet())
        frame = self._link(data, port)
        if pick < 0.25:
            frame = self._spoil(frame)
        return SECOND, port, frame

    def _packet(self):
        makers = {self._transport: 56, self._few_flows: 6, self._error: 12, self._echo: 6, self._other: 5,
                  self._fragment: 4, self._to_us: 5, self._tunnel: 3, self._any_icmp: 3}
        return self.random.choices(list(makers), list(makers.values()))[0]()

    def _v4(self) -> bool:
        return self.random.random() < 0.55

    def _client(self, v4: bool) -> str:
        r = self.random
        if r.random() < 0.06:
            return r.choice(ODD4 if v4 else ODD6)
        host = r.randrange(1, 250)
        if v4:
            return r.choice((f"192.0.2.{host}", f"198.18.3.{host}", f"100.64.{host}.1",
                             f"100.64.0.{host % 8}"))
        return r.choice((f"2001:db8:c::{host:x}", f"2001:db8:c:1::{host:x}"))

    def vip(self, v4: bool) -> str:
        r = self.random
        if r.random() < 0.04:
            return r.choice(STRANGERS4 if v4 else STRANGERS6)
        return r.choice(VIPS4 if v4 else VIPS6)

    def ip(self, source: str, destination: str, plain: bool = False):
        """An IP header with whatever may be in it; `plain`: without options and extensions."""
        r = self.random
        ttl = r.choice((64, 64, 64, 255, 1, 2, r.randrange(256), 0 if r.random() < 0.1 else 3))
        if ":" not in source:
            flags = r.choice(("DF", "DF", 0, 0, "evil"))
            options = b"" if plain or r.random() < 0.85 else self._options()
            return IP(src=source, dst=destination, ttl=ttl, tos=r.randrange(256),
                      id=r.randrange(65536), flags=flags, options=_read_options(options))
        head = IPv6(src=source, dst=destination, hlim=ttl, tc=r.randrange(256),
                    fl=r.randrange(1 << 20))
        return head

    def _options(self) -> bytes:
        """IPv4 options that can be read, a multiple of four bytes."""
        r = self.random
        parts = []
        for _ in range(r.randrange(1, 5)):
            size = r.choice((3, 4, 7, 8, 11))
            parts.append(r.choice((b"\x01", bytes([r.choice((7, 68, 131, 136, 148)), size]) +
                                   r.randbytes(size - 2))))
        options = b"".join(parts)[:40]
        options = options if len(b"".join(parts)) <= 40 else parts[0]
        return options + bytes(-len(options) % 4)

    def _extended(self, head, protocol: int, body: bytes):
        """`body` behind `head`, for IPv6 now and then behind extension headers."""
        r = self.random
        if head.version == 4:
            head.proto = protocol
            return head / Raw(body)
        kinds = [] if r.random() < 0.8 else [r.choice((0, 43, 44, 51, 60, 60))
                                            for _ in range(r.choice((1, 1, 2, 3, 7, 8, 9)))]
        if kinds.count(44) > 1:
            kinds = [60]
        kinds.append(protocol if r.random() < 0.98 or len(kinds) > 1 else 59)
        headers = b""
        for kind, following in zip(kinds, kinds[1:]):
            headers += self._extension(kind, following)
        head.nh = kinds[0]
        return head / Raw(headers + body)

    def _extension(self, kind: int, following: int) -> bytes:
        r = self.random
        if kind == 44:
            return struct.pack("!BBHI", following, 0, 0, r.randrange(1 << 32))  # atomic
        if kind == 51:
            size = r.choice((1, 4, 6))
            return bytes([following, size]) + r.randbytes((size + 2) * 4 - 2)
        units = r.choice((0, 0, 1, 2, 15, 31 if r.random() < 0.3 else 0))
        return bytes([following, units]) + r.randbytes((units + 1) * 8 - 2)

    def _size(self, header: int) -> int:
        """Bytes of payload: mostly little, often around a limit, with `header` bytes in front."""
        r = self.random
        kind = r.random()
        if kind < 0.65:
            return r.choice((0, 1, 2, 3, 20, r.randrange(200)))
        if kind < 0.95:
            return max(0, r.choice(EDGES) + r.randrange(-3, 12) - header)
        return r.randrange(0, 1900)

    def _transport(self):
        v4 = self._v4()
        head = self.ip(self._client(v4), self.vip(v4))
        ports = FEW_PORTS.get(head.dst, PORTS[:8])
        return self._extended(head, *self._segment(20 if v4 else 40, ports))

    def _few_flows(self):
        """TCP of few flows to pools with a draining backend, so that entries are met again."""
        r = self.random
        v4 = r.random() < 0.7
        source, vip = (("100.64.0.1", "203.0.113.10") if v4 else
                       ("2001:db8:c::1", "2001:db8:53::10"))
        flags = r.choice(("S", "S", "S", "A", "A", "PA", "FA", "R", "SA", "", "SF", "SR"))
        segment = TCP(sport=2000 + r.randrange(12), dport=r.choice((85, 85, 85, 87) if v4 else (85,)),
                      flags=flags)
        return self._extended(self.ip(source, vip), 6, raw(segment))

    def _segment(self, ip_header: int, ports=PORTS) -> tuple[int, bytes]:
        """Protocol and bytes of TCP or UDP, mostly to one of `ports`."""
        r = self.random
        sport = r.choice((r.randrange(65536), 1024 + r.randrange(8), 1024 + r.randrange(8)))
        dport = r.choice(ports) if r.random() < 0.9 else r.choice(PORTS)
        if r.random() < 0.7:
            flags = r.choice(("S", "S", "A", "A", "PA", "FA", "R", "SA", "", "SF"))
            options = r.choice(([], [], [("MSS", 1460)], [("NOP", None)] * 12))
            head = TCP(sport=sport, dport=dport, flags=flags, options=options,
                       chksum=r.randrange(65536))
            protocol = 6
        else:
            head = UDP(sport=sport, dport=dport, chksum=r.randrange(65536),
                       len=r.choice((None, None, 0, 65535)))
            protocol = 17
        size = self._size(ip_header + len(head))
        return protocol, raw(head / Raw(r.randbytes(size)))

    def _fragment(self):
        r = self.random
        v4 = self._v4()
        head = self.ip(self._client(v4), self.vip(v4), plain=True)
        protocol, body = self._segment(20)
        body = body[:r.choice((4, 8, 12, 16, 24, len(body)))]
        offset, more = r.choice(((0, 1), (1, 0), (1, 1), (2, 1), (100, 0)))
        if v4:
            head.frag, head.flags, head.proto = offset, "MF" if more else 0, protocol
            return head / Raw(body)
        head.nh = 44
        return head / Raw(struct.pack("!BBHI", protocol, 0, offset << 3 | more, 7) + body)

    def _quote(self, v4: bool, vip: str) -> bytes:
        """A packet that the VIP may have sent, cut as routers do it."""
        r = self.random
        source = vip if r.random() < 0.9 else self.vip(v4)
        sport = r.choice(PORTS)
        head = self.ip(source, self._client(v4))
        transport = r.choice((TCP, UDP))(sport=sport, dport=1024 + r.randrange(8))
        quoted = raw(self._extended(head, 6 if isinstance(transport, TCP) else 17,
                                    raw(transport / Raw(r.randbytes(self._size(100))))))
        header = (quoted[0] & 15) * 4 if v4 else 40
        return quoted[:r.choice((len(quoted), len(quoted), header + 8, header + 8, 548, 1232,
                                 header + r.randrange(12), r.randrange(header)))]

    def _error(self):
        r = self.random
        v4 = self._v4()
        vip = self.vip(v4)
        head = self.ip(self._client(v4), vip)
        kind, code = ((r.choice((3, 3, 3, 11, 12)), r.choice((0, 1, 4, 4))) if v4 else
                      (r.choice((1, 2, 2, 3, 4)), r.choice((0, 0, 1))))
        return self._message(head, kind, code, r.randbytes(4), self._quote(v4, vip))

    def _message(self, head, kind: int, code: int, rest: bytes, body: bytes):
        """ICMP with a checksum that is mostly right."""
        v4 = head.version == 4
        message = bytes([kind, code, 0, 0]) + rest + body
        pseudo = b"" if v4 else (words.inet_pton(words.AF_INET6, head.src) +
                                 words.inet_pton(words.AF_INET6, head.dst) +
                                 struct.pack("!II", len(message), 58))
        total = checksum(pseudo + message) if self.random.random() < 0.93 else 0xBAD
        message = message[:2] + struct.pack("!H", total) + message[4:]
        return self._extended(head, 1 if v4 else 58, message)

    def _echo(self):
        r = self.random
        v4 = self._v4()
        head = self.ip(self._client(v4), self.vip(v4))
        code = 0 if r.random() < 0.95 else 1
        return self._message(head, 8 if v4 else 128, code, r.randbytes(4),
                             r.randbytes(self._size(48)))

    def _any_icmp(self):
        r = self.random
        v4 = self._v4()
        head = self.ip(self._client(v4), r.choice((VIPS4 + OWN4) if v4 else (VIPS6 + OWN6)))
        return self._message(head, r.randrange(256), r.choice((0, 0, 4)), r.randbytes(4),
                             r.randbytes(r.randrange(60)))

    def _other(self):
        r = self.random
        v4 = self._v4()
        head = self.ip(self._client(v4), self.vip(v4))
        protocol = r.choice((2, 3, 50, 89, 132, 255, 58 if v4 else 1))
        return self._extended(head, protocol, r.randbytes(r.randrange(60)))

    def _tunnel(self):
        r = self.random
        v4 = self._v4()
        head = self.ip(self._client(v4), self.vip(v4))
        inner = raw(self._transport())
        kind = r.choice((4, 41, 47, 17))
        if kind == 47:
            inner = b"\0\0\x08\0" + inner
        elif kind == 17:
            inner = raw(UDP(sport=50000, dport=6080) / Raw(b"\0\4\0\0" + inner))
        return self._extended(head, kind, inner)

    def _to_us(self):
        """Pings of our own addresses, and the fabric's errors about our tunnels."""
        r = self.random
        v4 = self._v4()
        own = r.choice(OWN4 if v4 else OWN6)
        host = r.randrange(250)
        head = self.ip(f"100.64.{host}.1" if v4 else f"2001:db8:c::{host:x}", own)
        if r.random() < 0.4:
            return self._message(head, 8 if v4 else 128, 0, r.randbytes(4), r.randbytes(30))
        source = own if r.random() < 0.9 else self._client(v4)
        backend = r.choice(BACKENDS4 + STRANGERS4[:1] if v4 else BACKENDS6 + STRANGERS6[:1])
        outer = self.ip(source, backend, plain=True)
        tunnel = raw(self._extended(outer, 4, raw(self._transport())))
        mtu = r.choice((0, 68, 1280, 1320, 1350, 1400, 1450, 1500, 9000))
        rest = struct.pack("!HH", 0, mtu) if v4 else struct.pack("!I", mtu)
        kind, code = (3, r.choice((4, 4, 4, 3))) if v4 else (r.choice((2, 2, 1)), 0)
        return self._message(head, kind, code, rest, tunnel[:r.choice((100, 548, 1232))])

    def _arp(self, port: int) -> bytes:
        r = self.random
        sender = "192.168.7.99" if port else "198.51.100.99"
        return raw(Ether(dst=r.choice(("ff:ff:ff:ff:ff:ff", MACS[port])), src=words.ROUTER_MAC) /
                   ARP(op=1, hwsrc=words.ROUTER_MAC, psrc=sender, pdst=r.choice(OWN4 + VIPS4)))

    def _solicitation(self, port: int) -> bytes:
        """A neighbor solicitation, mostly right, for us or for another."""
        r = self.random
        target = words.inet_pton(words.AF_INET6, r.choice(OWN6 + OWN6 + VIPS6[-3:]))
        group = words.inet_ntop(words.AF_INET6, bytes.fromhex("ff02" + "00" * 9 + "01ff") + target[13:])
        source = r.choice(("::", "2001:db8:1::99", "fe80::99", "2001:db8:7::99"))
        option = b"" if source == "::" and r.random() < 0.9 else (
            b"\1\1" + words.mac2str(words.ROUTER_MAC))
        head = IPv6(src=source, dst=group, hlim=255 if r.random() < 0.9 else 64)
        message = self._message(head, 135, 0, bytes(4), target + option)
        mac = r.choice(("33:33:ff:" + ":".join(f"{b:02x}" for b in target[13:]), MACS[port]))
        return raw(Ether(dst=mac, src=words.ROUTER_MAC, type=0x86DD) / message)

    def _link(self, data: bytes, port: int) -> bytes:
        """The packet in a frame, with tags and padding now and then."""
        r = self.random
        mac = MACS[port] if r.random() < 0.97 else r.choice((words.OTHER_MAC, "ff:ff:ff:ff:ff:ff"))
        frame = Ether(dst=mac, src=words.ROUTER_MAC)
        for _ in range(r.choice((0, 0, 0, 0, 0, 1, 1, 2, 3 if r.random() < 0.3 else 0))):
            frame /= r.choice((Dot1Q, Dot1Q, Dot1AD))(vlan=r.randrange(4096), prio=r.randrange(8))
        last = frame.lastlayer()
        last.type = 0x0800 if data[0] >> 4 == 4 else 0x86DD
        padding = r.randbytes(r.randrange(1, 30)) if r.random() < 0.3 else b""
        return raw(frame / Raw(data)) + padding

    def _spoil(self, frame: bytes) -> bytes:
        """Bits turned over, or bytes cut off; the IPv4 checksum is often made right again."""
        r = self.random
        if r.random() < 0.3:
            return frame[:r.randrange(len(frame))]
        spoiled = bytearray(frame)
        for _ in range(r.choice((1, 1, 1, 2, 3))):
            at = r.randrange(12, min(len(spoiled), r.choice((60, 90, 2000))))
            spoiled[at] ^= r.choice((1 << r.randrange(8), r.randrange(1, 256)))
        return _repair(bytes(spoiled)) if r.random() < 0.7 else bytes(spoiled)


def _read_options(options: bytes):
    """Scapy takes options as bytes only from a header it has read."""
    return IP(bytes([0x45 + len(options) // 4]) + bytes(19) + options).options if options else []


def _repair(frame: bytes) -> bytes:
    """The frame with the checksum of an untagged IPv4 header made right."""
    size = 14 + (frame[14] & 15) * 4 if len(frame) > 34 else 0
    if frame[12:14] != b"\x08\0" or not 34 <= size <= len(frame):
        return frame
    blank = frame[14:24] + b"\0\0" + frame[26:size]
    return frame[:24] + struct.pack("!H", checksum(blank)) + frame[26:]
