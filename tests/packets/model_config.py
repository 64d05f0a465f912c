"""The two YAML files as the model needs them. Addresses are bytes as on the wire, 4 or 16."""

import dataclasses
import pathlib
import socket

import yaml

TCP, UDP = 6, 17


def packed(text: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


@dataclasses.dataclass(frozen=True)
class Prefix:
    """An address and how many of its leading bits count."""

    address: bytes
    length: int

    @staticmethod
    def parse(text: str) -> "Prefix":
        address, _, length = text.partition("/")
        wire = packed(address)
        return Prefix(wire, int(length) if length else 8 * len(wire))

    def holds(self, address: bytes) -> bool:
        if len(address) != len(self.address):
            return False
        shift = 8 * len(address) - self.length
        return (int.from_bytes(address, "big") >> shift ==
                int.from_bytes(self.address, "big") >> shift)


@dataclasses.dataclass
class Port:
    """A port of the host; net_pcap devices number their MAC addresses."""

    index: int
    mtu: int  # bytes of the largest IP packet
    vlan: int  # 0: untagged
    addresses: list[Prefix]
    gateways: list[bytes]
    gateway_mac: bytes

    @property
    def mac(self) -> bytes:
        return b"\x02pcap" + bytes([self.index])

    def reaches(self, size: int) -> bool:
        """Has an address and a gateway of the family with addresses of `size` bytes."""
        return (any(len(a.address) == size for a in self.addresses) and
                any(len(g) == size for g in self.gateways))

    def address(self, size: int) -> bytes:
        return next(a.address for a in self.addresses if len(a.address) == size)


@dataclasses.dataclass
class Backend:
    address: bytes
    weight: int
    state: str


@dataclasses.dataclass
class Pool:
    name: str
    table_size: int
    backends: list[Backend]  # in canonical order


@dataclasses.dataclass
class Service:
    prefix: Prefix
    protocol: int
    ports: list[tuple[int, int]]  # ranges, both ends included; empty: every port
    pool: Pool
    encapsulation: str
    hash: str
    on_no_backend: str
    icmp_echo: str  # after services of one prefix have agreed
    udp_idle: int  # seconds
    outer_source: Prefix | None
    gue_zero: bool
    deny: list[Prefix]
    steer_fragments: bool = True

    def lists(self, port: int) -> bool:
        return (port, port) in self.ports

    def ranges(self, port: int) -> bool:
        return any(first <= port <= last for first, last in self.ports)


def _range(value) -> tuple[int, int]:
    first, _, last = str(value).partition("-")
    return int(first), int(last or first)


def _seconds(text: str) -> int:
    return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def read_ports(path: pathlib.Path) -> list[Port]:
    ports = []
    for entry in yaml.safe_load(path.read_text())["dataplane"]["ports"]:
        mac = bytes.fromhex(entry.get("gateway_mac", "").replace(":", ""))
        ports.append(Port(len(ports), entry.get("mtu", 1500), entry.get("vlan", 0),
                          [Prefix.parse(a) for a in entry["addresses"]],
                          [packed(g) for g in entry.get("gateways", [])], mac))
    return ports


def _read_pool(entry: dict) -> Pool:
    backends = [Backend(packed(b["address"]), b.get("weight", 100), b.get("state", "active"))
                for b in entry["backends"]]
    backends.sort(key=lambda b: (len(b.address), b.address))
    return Pool(entry["name"], entry.get("table_size", 65537), backends)


def _read_service(entry: dict, pools: dict[str, Pool]) -> Service:
    source = entry.get("outer_source_prefix")
    return Service(
        prefix=Prefix.parse(entry["address"]),
        protocol=TCP if entry["protocol"] == "tcp" else UDP,
        ports=[_range(p) for p in entry.get("ports", [])],
        pool=pools[entry["pool"]],
        encapsulation=entry.get("encapsulation", "ipip"),
        hash=entry.get("hash", "five_tuple"),
        on_no_backend=entry.get("on_no_backend", "drop"),
        icmp_echo=entry.get("icmp_echo", ""),
        udp_idle=_seconds(entry.get("idle_timeout", {}).get("udp", "30s")),
        outer_source=Prefix.parse(source) if source else None,
        gue_zero=entry.get("gue_udp_checksum") == "zero",
        deny=[Prefix.parse(p) for p in entry.get("deny", [])],
        steer_fragments=entry.get("fragments", "steer") == "steer")


def read_services(path: pathlib.Path) -> tuple[bytes, list[Service]]:
    """The seed and the services, those of one prefix with one `icmp_echo`."""
    config = yaml.safe_load(path.read_text())
    pools = {entry["name"]: _read_pool(entry) for entry in config["pools"]}
    services = [_read_service(entry, pools) for entry in config["services"]]
    for service in services:
        said = {s.icmp_echo for s in services if s.prefix == service.prefix and s.icmp_echo}
        service.icmp_echo = said.pop() if said else "reply"
    return config["hash"]["seed"].encode(), services
