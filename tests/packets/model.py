"""What docs/PACKETS.md says becomes of a frame: verdict and frames sent, byte for byte.

Written from docs/PACKETS.md, docs/HASHING.md, docs/CONSISTENCY.md and the RFCs they name, not from
the program under test, and without any of its constants. Not in it: rates of ICMP (runs leave
time between packets), full tables of flows and decisions, health.
"""

import pathlib

import model_icmp
import model_neighbor
from model_config import UDP, Backend, Port, Prefix, Service, read_ports, read_services
from model_flows import FlowId, Flows
from model_fragments import MOST_WAITING, Decisions, Waiting, Way
from model_parse import ARP, IPV4, IPV6, Drop, Packet, open_frame, parse
from model_wrap import GUE_PORT, LEAST_ROOM, cut, link, overhead, too_big, wrap

Outcome = tuple[str, list[tuple[int, bytes]]]  # verdict, and (port, frame) for each frame sent

TUNNELS = (4, 41, 47)
MTU_LIFETIME = 600  # seconds

# RFC 1812 5.3.7; RFC 4291 2.5.2, 2.5.3, 2.7.
MARTIANS = [Prefix.parse(text) for text in
            ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32", "::/128", "::1/128",
             "ff00::/8", "fe80::/10", "::ffff:0:0/96")]


class Held(Exception):
    """The fragment waits for its first one."""


class Model:
    """One host. `predict` is to be asked for every frame, in order, and `elapse` when time passes
    without a frame. `released`: (number of the frame from 0 on, outcome) of what was held."""

    def __init__(self, host: pathlib.Path, services: pathlib.Path):
        self.ports = read_ports(host)
        seed, self.services = read_services(services)
        self.flows = Flows(seed)
        self.neighbors: dict[bytes, bytes] = {}  # l2 backends whose MAC address is known
        self.released: list[tuple[int, Outcome]] = []
        self._decisions = Decisions()
        self._waiting: list[Waiting] = []
        self._frames = 0
        self._mtus: dict[bytes, tuple[int, int]] = {}  # by backend: MTU and when it ends
        self._own = [p for port in self.ports for p in
                     (Prefix(a.address, 8 * len(a.address)) for a in port.addresses)]
        self._own += [s.outer_source for s in self.services if s.outer_source]

    def predict(self, frame: bytes, port: int, now: int) -> Outcome:
        """`now`: milliseconds."""
        outcome = self._judge(frame, port, now)
        if outcome[0] == "held":
            if len(self._waiting) == MOST_WAITING:
                outcome = "drop_fragment_overflow", []
            else:
                self._waiting.append(Waiting(self._frames, frame, port, now))
        self._frames += 1
        self.elapse(now)
        return outcome

    def elapse(self, now: int) -> None:
        """What waits is judged again."""
        still = []
        for one in self._waiting:
            outcome = self._judge(one.frame, one.port, now)
            if outcome[0] == "held" and one.is_tired(now):
                outcome = "drop_fragment_timeout", []
            if outcome[0] == "held":
                still.append(one)
            else:
                self.released.append((one.number, outcome))
        self._waiting = still

    def _judge(self, frame: bytes, port: int, now: int) -> Outcome:
        try:
            return self._decide(frame, self.ports[port], now // 1000)
        except Drop as drop:
            return drop.args[0], []
        except Held:
            return "held", []

    def _decide(self, frame: bytes, port: Port, now: int) -> Outcome:
        kind, data = open_frame(frame)
        if kind == ARP:
            return model_neighbor.arp(frame, data, port)
        if kind not in (IPV4, IPV6):
            raise Drop("drop_unknown_ethertype")
        packet = parse(kind, data)
        message = packet.icmp and not packet.later  # of a later fragment nobody can tell
        if message and model_neighbor.is_discovery(packet):
            return model_neighbor.discovery(frame, packet, port)
        if frame[:6] != port.mac:
            raise Drop("drop_not_our_mac")
        if message and self._is_own(packet.destination):
            return self._for_us(packet, port, now)
        services = self._of_destination(packet.destination)
        if packet.source == packet.destination or any(m.holds(packet.source) for m in MARTIANS):
            raise Drop("drop_martian_source")
        if packet.later:
            return self._follow(packet, port, now)
        if message:
            return self._icmp_to_vip(packet, services, port, now)
        return self._to_service(packet, services, port, now)

    def _is_own(self, address: bytes) -> bool:
        return any(prefix.holds(address) for prefix in self._own)

    def _of_destination(self, destination: bytes) -> list[Service]:
        """Services of the longest prefix that holds the address."""
        holding = [s for s in self.services if s.prefix.holds(destination)]
        if not holding:
            raise Drop("drop_not_vip")
        longest = max(s.prefix.length for s in holding)
        return [s for s in holding if s.prefix.length == longest]

    @staticmethod
    def _of_port(services: list[Service], protocol: int, port: int) -> Service | None:
        mine = [s for s in services if s.protocol == protocol]
        for matches in (lambda s: s.lists(port), lambda s: s.ranges(port), lambda s: not s.ports):
            found = [s for s in mine if matches(s)]
            if found:
                return found[0]
        return None

    def _follow(self, packet: Packet, port: Port, now: int) -> Outcome:
        """A later fragment goes where its first one went."""
        if packet.v4:
            self._check_protocol(packet.protocol)
        decision = self._decisions.of(packet, now)
        if decision is None:
            raise Held()
        if isinstance(decision, str):
            raise Drop(decision)
        return self._send(packet, decision, port, now, answer=False)

    def _to_service(self, packet: Packet, services: list[Service], port: Port, now: int) -> Outcome:
        decision: Way | str
        try:
            decision = self._way(packet, services, now)
        except Drop as drop:
            decision = drop.args[0]
        if packet.part:
            self._decisions.note(packet, decision, now)
        if isinstance(decision, str):
            raise Drop(decision)
        return self._send(packet, decision, port, now)

    @staticmethod
    def _check_protocol(protocol: int) -> None:
        if protocol in TUNNELS:
            raise Drop("drop_loop")
        if protocol not in (6, UDP):
            raise Drop("drop_no_service")

    def _way(self, packet: Packet, services: list[Service], now: int) -> Way:
        """Of a whole packet or a first fragment of TCP or UDP."""
        self._check_protocol(packet.protocol)
        sport, dport = packet.ports
        service = self._of_port(services, packet.protocol, dport)
        if packet.protocol == UDP and dport == GUE_PORT and not (service and service.lists(dport)):
            raise Drop("drop_loop")
        if service is None:
            raise Drop("drop_no_service")
        if any(prefix.holds(packet.source) for prefix in service.deny):
            raise Drop("drop_denied")
        if packet.part and not service.steer_fragments:
            raise Drop("drop_fragment")
        flow = (packet.source, packet.destination, sport, dport, packet.protocol)
        flags = None if packet.protocol == UDP else packet.payload[13]
        return self._way_to(packet, service, self.flows.choose(service, flow, flags, now), flow)

    def _way_to(self, packet: Packet, service: Service, backend: Backend | None,
                flow: FlowId) -> Way:
        if backend is None:
            raise Drop("drop_no_backend")
        if self._is_own(packet.source) or packet.source == backend.address:
            raise Drop("drop_loop")
        return Way(service, backend, self.flows.hash_of(flow))

    def _send(self, packet: Packet, way: Way, port: Port, now: int, answer: bool = True) -> Outcome:
        """Wraps and sends; `answer`: the sender is told when it is too big."""
        service, address = way.service, way.backend.address
        egress = self._egress(service, address)
        room = self._room(service, egress, address, now)
        parts = [packet.data]
        if len(packet.data) > room:
            if packet.v4 and not packet.data[6] & 0x40:
                parts = cut(packet.data, room)
            elif answer:
                message = too_big(packet.destination, packet.source, packet.data, room)
                return "answered_too_big", [self._answer(port, message)]
            else:
                raise Drop("drop_too_big")
        to = self.neighbors.get(address) if service.encapsulation == "l2" else egress.gateway_mac
        if not to:
            raise Drop("drop_no_neighbor")
        wrapped = [wrap(service, egress, address, way.flow_hash, part) for part in parts]
        return "forwarded", [(egress.index, link(egress, to, one)) for one in wrapped]

    def _egress(self, service: Service, address: bytes) -> Port:
        """By the first port that reaches the family; of l2 backends by that of their segment."""
        if service.encapsulation == "l2":
            return next(p for p in self.ports if any(a.holds(address) for a in p.addresses))
        return next(p for p in self.ports if p.reaches(len(address)))

    def _room(self, service: Service, egress: Port, address: bytes, now: int) -> int:
        if service.encapsulation == "l2":
            return egress.mtu
        extra = overhead(service.encapsulation, address)
        learned, until = self._mtus.get(address, (0, 0))
        if now >= until:
            return egress.mtu - extra
        return min(egress.mtu, max(learned, LEAST_ROOM + extra)) - extra

    def _answer(self, port: Port, packet: bytes) -> tuple[int, bytes]:
        """To the gateway of the port that the packet came through."""
        if self._is_broadcast(packet[16:20] if packet[0] >> 4 == 4 else packet[24:40]):
            raise Drop("drop_martian_source")
        if len(packet) > port.mtu:
            raise Drop("drop_too_big")
        size = 4 if packet[0] >> 4 == 4 else 16
        if not any(len(g) == size for g in port.gateways):
            raise Drop("drop_no_neighbor")
        return port.index, link(port, port.gateway_mac, packet)

    def _is_broadcast(self, address: bytes) -> bool:
        """RFC 1122 3.2.1.3, of the ports' own IPv4 networks; RFC 3021: of at least 4 addresses."""
        for network in (a for port in self.ports for a in port.addresses):
            host = 32 - network.length
            if len(address) == 4 == len(network.address) and host > 1 and network.holds(address):
                bits = int.from_bytes(address) & (1 << host) - 1
                if bits in (0, (1 << host) - 1):
                    return True
        return False

    def _icmp_to_vip(self, packet: Packet, services: list[Service], port: Port,
                     now: int) -> Outcome:
        kind = model_icmp.kind_of(packet)
        if kind == "error":
            return self._error(packet, services, port, now)
        if kind != "echo":
            raise Drop("drop_icmp_type")
        policy = services[0].icmp_echo
        if policy == "drop":
            raise Drop("drop_echo_policy")
        if policy == "reply":
            return "answered_echo", [self._answer(port, model_icmp.echo_reply(packet))]
        service = services[0]
        flow = (packet.source, packet.destination, 0, 0, packet.protocol)
        slot = self.flows.slot(flow, "source_address", service.pool.table_size)
        way = self._way_to(packet, service, self.flows.table(service).current(slot), flow)
        return self._send(packet, way, port, now)

    def _error(self, packet: Packet, services: list[Service], port: Port, now: int) -> Outcome:
        """RFC 7690: to the backend of the flow that is quoted."""
        quote = model_icmp.quote_of(packet)
        sport, dport = quote.ports()  # the VIP's, the client's
        service = self._of_port(services, quote.protocol, sport)
        if quote.source != packet.destination or service is None:
            raise Drop("drop_icmp_no_service")
        if any(prefix.holds(quote.destination) for prefix in service.deny):
            raise Drop("drop_denied")
        flow = (quote.destination, quote.source, dport, sport, quote.protocol)
        way = self._way_to(packet, service, self.flows.peek(service, flow, now), flow)
        return self._send(packet, way, port, now, answer=False)

    def _for_us(self, packet: Packet, port: Port, now: int) -> Outcome:
        if packet.source == packet.destination or any(m.holds(packet.source) for m in MARTIANS):
            raise Drop("drop_martian_source")
        kind = model_icmp.kind_of(packet)
        if kind == "echo":
            return "answered_echo", [self._answer(port, model_icmp.echo_reply(packet))]
        if kind != "error":
            raise Drop("drop_icmp_type")
        mtu = model_icmp.reported_mtu(packet)
        quote = model_icmp.quote_of(packet)
        backends = {b.address for s in self.services for b in s.pool.backends}
        if (mtu == 0 or not self._is_own(quote.source) or quote.destination not in backends or
                not quote.is_tunnel()):
            raise Drop("drop_icmp_no_service")
        learned, until = self._mtus.get(quote.destination, (0, 0))
        if now >= until or mtu <= learned:
            self._mtus[quote.destination] = (min(mtu, 0xFFFF), now + MTU_LIFETIME)
        return "learned_path_mtu", []
