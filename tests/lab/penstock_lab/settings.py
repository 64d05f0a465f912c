"""Names, addresses and paths of one lab. Nothing here touches the machine."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
RUN_DIRECTORY = Path("/run/penstock-lab")

VIP4, VIP6 = "203.0.113.10", "2001:db8:53::10"
CLIENT_MTU, FABRIC_MTU = 1500, 1600

# IP-in-IP, each service one pair of (inner, outer) families, by its port and VIP.
URL_4IN4 = f"http://{VIP4}"
URL_6IN6 = f"http://[{VIP6}]"
URL_4IN6 = f"http://{VIP4}:8046"
URL_6IN4 = f"http://[{VIP6}]:8064"


class LabError(Exception):
    """Something the person at the keyboard has to know; the message says what to do."""


@dataclass(frozen=True)
class Tunnel:
    """A service whose packets are wrapped in one way, and its port."""
    encapsulation: str
    inner: int  # 4 or 6, as `outer`
    outer: int
    port: int

    @property
    def kind(self):
        """As penstock-decap calls its counters."""
        return f"{self.encapsulation}_{self.inner}in{self.outer}"

    @property
    def vip(self):
        return VIP4 if self.inner == 4 else VIP6

    @property
    def url(self):
        return f"{URL_4IN4 if self.inner == 4 else URL_6IN6}:{self.port}"


# The port says what it is: 47 is the protocol number of GRE, 60 begins the UDP port of GUE.
GRE_44, GRE_46, GRE_64, GRE_66 = (
    Tunnel("gre", inner, outer, 4700 + 10 * inner + outer) for inner in (4, 6) for outer in (4, 6))
GUE_44, GUE_46, GUE_64, GUE_66 = (
    Tunnel("gue", inner, outer, 6000 + 10 * inner + outer) for inner in (4, 6) for outer in (4, 6))
TUNNELS = (GRE_44, GRE_46, GRE_64, GRE_66, GUE_44, GUE_46, GUE_64, GUE_66)
HTTP_PORTS = (80, 8046, 8064, *(tunnel.port for tunnel in TUNNELS))
# Only a test that sends datagrams listens there.
UDP_TUNNELS = (Tunnel("ipip", 4, 4, 7044), Tunnel("gue", 4, 6, 7046))


@dataclass(frozen=True)
class Host:
    """A namespace with one link to the router, whose end of it is called r-<name>."""
    name: str
    prefix4: str  # the first three bytes; the router is .1, the host is .2
    prefix6: str  # the first 64 bits; the router is ::1, the host is ::2
    mtu: int

    @property
    def address4(self):
        return f"{self.prefix4}.2"

    @property
    def address6(self):
        return f"{self.prefix6}::2"

    @property
    def gateway4(self):
        return f"{self.prefix4}.1"

    @property
    def gateway6(self):
        return f"{self.prefix6}::1"

    @property
    def link(self):
        return f"r-{self.name}"


CLIENT = Host("client", "10.1.0", "2001:db8:1", CLIENT_MTU)
BALANCERS = tuple(Host(f"lb{n}", f"10.2.{n}", f"2001:db8:2:{n}", FABRIC_MTU) for n in (1, 2))
BACKENDS = tuple(Host(f"be{n}", f"10.3.{n}", f"2001:db8:3:{n}", FABRIC_MTU) for n in (1, 2, 3))
HOSTS = (CLIENT, *BALANCERS, *BACKENDS)
ROUTER = "router"
NAMES = (ROUTER, *(host.name for host in HOSTS))


def host(name):
    for candidate in HOSTS:
        if candidate.name == name:
            return candidate
    raise LabError(f"no host {name!r} in the lab; there are {', '.join(NAMES)}")


@dataclass(frozen=True)
class Settings:
    """One lab. Two labs with different ids do not meet; two users of one id are one too many."""
    id: str = "lab"
    build: Path = REPOSITORY / "build/release"

    @staticmethod
    def from_environment(build=None):
        lab_id = os.environ.get("PENSTOCK_LAB", "lab")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", lab_id):
            raise LabError(f"PENSTOCK_LAB={lab_id!r}: use lower-case letters, digits and dashes")
        chosen = Path(build or os.environ.get("PENSTOCK_BUILD") or "build/release")
        return Settings(lab_id, chosen if chosen.is_absolute() else _resolve(chosen))

    @property
    def directory(self):
        """Pid files, logs, sockets, generated configuration, what backends store."""
        return RUN_DIRECTORY / self.id

    @property
    def logs(self):
        return self.directory / "log"

    @property
    def pids(self):
        return self.directory / "pid"

    def namespace(self, name):
        return f"penstock-{self.id}-{name}"

    def socket(self, balancer):
        return self.directory / f"{balancer}.sock"

    def program(self, name):
        path = self.build / "bin" / name
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is missing; build it (cmake --build --preset release) or "
                           "name the build folder with --build")
        return str(path)


def _resolve(build):
    """A relative build folder is looked for here first, then in the repository."""
    return build.resolve() if build.exists() else REPOSITORY / build
