"""Two workers on one port with two queues: each flow at one of them, errors at any of them."""

import contextlib
import itertools
import os

from scapy.all import ICMP, IP, TCP, Raw, raw

from penstock_lab import backends, balancers, frames, traffic, variants
from penstock_lab.commands import ip_batch
from penstock_lab.settings import (BACKENDS, BALANCERS, ROUTER, URL_4IN4, URL_6IN6, VIP4, LabError)

HOST = BALANCERS[0]
WORKERS = sorted(os.sched_getaffinity(0))[:2]
# Ring and socket for each queue; the kernel spreads by a hash of addresses and ports.
DEVICE = ("net_af_packet0,iface=eth0,blocksz=65536,framesz=2048,framecnt=8192,qpairs=2,"
          "qdisc_bypass=0")
REQUESTS = 150
FLOWS = 16
ROUTERS = 8  # that send an error about each flow
OLD, NEW = BACKENDS[0], BACKENDS[1]
ERROR_MTU = 1400
# RFC 2544: nobody has it, and the router drops what goes there: nobody answers, or resets a flow.
STRANGER, STRANGERS = "198.18.0.1", "198.18.0.0/15"
OUTER = 14  # where the outer IPv4 header of a wrapped frame begins

# One backend, then another with all but a thousandth of the slots.
SERVICES = """\
hash: {{seed: "lab"}}
pools:
  - {{name: web, table_size: 65537, backends: [{backends}]}}
services:
  - {{name: web-http, address: {vip}, protocol: tcp, ports: [80], pool: web, encapsulation: ipip}}
"""
ONLY_OLD = f"{{address: {OLD.address4}, weight: 1}}"
MOSTLY_NEW = f"{ONLY_OLD}, {{address: {NEW.address4}, weight: 1000}}"


def two_workers(lab):
    if len(WORKERS) < 2:
        raise LabError("this test needs two processors")
    ports = [variants.port(HOST, DEVICE)]
    return variants.running(lab.settings, HOST, WORKERS[::-1], ports)


def by_worker(lab, before):
    """Packets forwarded by each worker since."""
    after = variants.workers(lab.settings, HOST)
    return [worker["uplink"]["forwarded"] for worker in variants.grown(before, after)]


def test_D04_flows_spread_over_workers(lab):
    """two workers share the flows of a device without receive side scaling, and files pass whole"""
    with two_workers(lab):
        before = variants.workers(lab.settings, HOST)
        for url in (URL_4IN4, URL_6IN6):
            traffic.spread(lab.settings, REQUESTS, url)
        shares = by_worker(lab, before)
        # Expect: of 300 flows 50 % each, within six standard deviations.
        assert min(shares) > 0.32 * sum(shares), f"packets by worker: {shares}"
        try:
            upload = traffic.start_upload(lab.settings, URL_4IN4, "workers")
            _, problem = traffic.finish_upload(lab.settings, upload, "workers")
        finally:
            backends.forget_uploads(lab.settings)
        assert not problem, problem
        variants.check_sums(lab.settings, HOST)


def run_with(lab, listed):
    balancers.reload(lab.settings, HOST.name, SERVICES.format(backends=listed, vip=VIP4))


def segment(port, flags):
    return IP(src=STRANGER, dst=VIP4) / TCP(sport=port, dport=80, flags=flags)


def error_about(port, router):
    """As some router sends it to the VIP: its answer to the client does not fit."""
    quoted = IP(src=VIP4, dst=STRANGER, len=1500, flags="DF") / TCP(
        sport=80, dport=port, flags="A")
    return IP(src=f"198.51.100.{1 + router}", dst=VIP4) / ICMP(
        type=3, code=4, nexthopmtu=ERROR_MTU) / Raw(raw(quoted)[:28])


def forwarded(opened, wanted, seconds=2):
    """The wrapped frames that the host sent, once `wanted` of them are there."""
    opened.settimeout(seconds)
    mac = opened.getsockname()[4]
    found = []
    while len(found) < wanted:
        try:
            frame = opened.recv(65536)
        except TimeoutError:
            break
        if frame[:6] == mac and frame[12:14] == b"\x08\x00" and frame[OUTER + 9] == 4:
            found.append(frame)
    return found


def send(lab, opened, packets):
    """Sends to the host as the router; returns the addresses of the backends that it chose."""
    ethernet = frames.to_balancer(lab.settings, HOST, packets[0])[:OUTER]
    burst = [ethernet + raw(packet) for packet in packets]
    for frame in burst:
        opened.send(frame)
    chosen = forwarded(opened, len(burst))
    assert len(chosen) == len(burst), f"{len(chosen)} of {len(burst)} were forwarded"
    return [".".join(map(str, frame[OUTER + 16:OUTER + 20])) for frame in chosen]


def open_flows(lab, opened, ports):
    """All on the old backend, and then most of the slots are the new one's."""
    run_with(lab, ONLY_OLD)
    for flags in ("S", "A", "PA"):
        chosen = send(lab, opened, [segment(port, flags) for port in ports])
        assert set(chosen) == {OLD.address4}, chosen
    run_with(lab, MOSTLY_NEW)
    # Expect: a new flow goes to the new backend. So would an error that finds no entry.
    chosen = send(lab, opened, [segment(port + 1000, "S") for port in ports])
    assert chosen.count(NEW.address4) >= FLOWS - 2, chosen


@contextlib.contextmanager
def nobody(lab):
    router = lab.settings.namespace(ROUTER)
    try:
        ip_batch([f"route add blackhole {STRANGERS}"], router)
        yield
    finally:
        ip_batch([f"route del blackhole {STRANGERS}"], router)


def test_I03_errors_reach_the_flow_of_another_worker(lab):
    """ICMP errors about a flow follow it to its backend, whichever worker the router's hash picks"""
    ports = range(20000, 20000 + FLOWS)
    with two_workers(lab), nobody(lab), frames.port(lab.settings, ROUTER, HOST.link) as opened:
        open_flows(lab, opened, ports)
        before = variants.workers(lab.settings, HOST)
        peers = balancers.counters(lab.settings, HOST.name)["flow_hit_peer"]
        errors = [error_about(port, router)
                  for port, router in itertools.product(ports, range(ROUTERS))]
        reached = send(lab, opened, errors)
        assert set(reached) == {OLD.address4}, f"errors went to {sorted(set(reached))}"
        shares = by_worker(lab, before)
        peers = balancers.counters(lab.settings, HOST.name)["flow_hit_peer"] - peers
        # Expect: both workers got some, and found flows of the other one.
        assert min(shares) > 0 and peers > 0, f"errors by worker: {shares}, of others: {peers}"
        variants.check_sums(lab.settings, HOST)
