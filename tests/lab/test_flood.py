"""A flood of connection attempts takes nothing from those that are there, and no memory."""

import random
import re
import struct
import threading
import time
from pathlib import Path

from scapy.all import IP, TCP

from penstock_lab import balancers, frames, network, processes
from penstock_lab.commands import ip_batch
from penstock_lab.long_connections import LongConnections
from penstock_lab.settings import BACKENDS, BALANCERS, CLIENT, ROUTER, VIP4

HOST = BALANCERS[0].name
DRAINED = BACKENDS[0]
CONNECTIONS = 40
FLOOD_SECONDS = 3
HALF_TABLE = 32768  # entries that are not confirmed may have this part of it
# RFC 2544: nobody has them, and the router drops the answers.
STRANGERS = "198.18.0.0/15"
PORTS = range(20000, 30000)
_SOURCE, _IP_CHECKSUM, _SOURCE_PORT, _SEQUENCE, _TCP_CHECKSUM = 26, 24, 34, 38, 50


class Flood:
    """SYNs from random addresses and ports of STRANGERS, sent by the client as fast as it can."""

    def __init__(self, lab):
        self._opened = frames.port(lab.settings, CLIENT.name, "eth0")
        self._template = bytearray(frames.from_client(
            lab.settings, IP(src="198.18.0.0", dst=VIP4, flags="DF") /
            TCP(sport=0, dport=80, seq=0, flags="S", window=1024)))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.sent = 0

    def __enter__(self):
        self._port = self._opened.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *what):
        self._stop.set()
        self._thread.join()
        return self._opened.__exit__(*what)

    def _run(self):
        while not self._stop.is_set():
            self._port.send(self._frame(random.getrandbits(17), random.getrandbits(16)))
            self.sent += 1

    def _frame(self, low_source, port):
        frame = bytearray(self._template)
        low_high, low_low = low_source >> 16, low_source & 0xffff
        struct.pack_into("!HH", frame, _SOURCE, (198 << 8) + 18 + low_high, low_low)
        struct.pack_into("!H", frame, _SOURCE_PORT, port)
        for at, added in ((_IP_CHECKSUM, low_high + low_low),
                          (_TCP_CHECKSUM, low_high + low_low + port)):
            old, = struct.unpack_from("!H", self._template, at)
            struct.pack_into("!H", frame, at, _updated(old, added))
        return frame


def _updated(checksum, added):
    """RFC 1624 (eqn. 3) for fields that were 0 and whose sum is now `added`."""
    total = (~checksum & 0xffff) + added
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def memory(lab):
    """Resident kilobytes of the daemon."""
    pid = processes.pid_path(lab.settings, f"penstockd-{HOST}").read_text(encoding="ascii").strip()
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))


def check_flood(lab, connections):
    """Floods, drains in the middle of it, and floods on; nothing that runs may notice."""
    before = balancers.counters(lab.settings, HOST)
    with Flood(lab) as flood:
        time.sleep(FLOOD_SECONDS / 2)
        resident = memory(lab)
        balancers.control_all(lab.settings, "backend", "drain", "web", DRAINED.address4)
        time.sleep(FLOOD_SECONDS / 2)
        connections.wait_for_progress(seconds=15)
    grown = memory(lab) - resident
    after = balancers.counters(lab.settings, HOST)
    added = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    print(f"   {flood.sent} SYNs sent, memory {resident} kB + {grown} kB, {added}", flush=True)
    assert added["forwarded"] > HALF_TABLE, f"not even its part of the table full: {added}"
    assert abs(grown) < 2048, f"{resident} kB grew by {grown} kB"


def test_F07_flood(lab):
    """40 connections live through a flood of SYNs with a drain in its middle, memory is steady"""
    router = lab.settings.namespace(ROUTER)
    network.set_next_hops(lab.settings, [HOST])
    ip_batch([f"route add blackhole {STRANGERS}"], router)
    try:
        with LongConnections(lab.settings) as connections:
            connections.open(random.sample(PORTS, CONNECTIONS))
            check_flood(lab, connections)
            connections.finish()
            assert not connections.broken(), f"broken: {connections.broken()}"
    finally:
        ip_batch([f"route del blackhole {STRANGERS}"], router)
        network.set_next_hops(lab.settings, [balancer.name for balancer in BALANCERS])
        balancers.restart(lab.settings)
