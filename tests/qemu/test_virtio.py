"""virtio-net with two queues: receive side scaling onto two workers."""

import itertools
import random

from penstock_guest import daemon
from penstock_guest.checks import check_link, check_requests, check_upload
from penstock_guest.guest import VIRTIO
from penstock_guest.toeplitz import tcp_hash
from penstock_lab import traffic
from penstock_lab.settings import CLIENT, URL_4IN4, URL_6IN6, VIP4, VIP6

FLOWS = 12
# Below the ports the kernel gives away, so that nothing else uses them.
PORTS = range(20000, 30000)


def test_status(guest):
    """penstockd drives the NIC by its PCI address, one queue for each worker, out of hugepages"""
    daemon.stop(guest)
    before = daemon.free_hugepages(guest)
    daemon.ensure(guest, "virtio", VIRTIO)
    port = daemon.port(guest)
    assert (port["device"], port["driver"]) == (VIRTIO.device, "net_virtio"), port
    assert (port["rxQueues"], port["txQueues"], port["linkUp"]) == (2, 2, True), port
    # Expect: the 128 MB of the configuration, in pages of 2 MB.
    assert before - daemon.free_hugepages(guest) >= 64, daemon.free_hugepages(guest)


def test_requests_v4(guest):
    """requests over IPv4 are answered"""
    daemon.ensure(guest, "virtio", VIRTIO)
    check_requests(guest, URL_4IN4)


def test_requests_v6(guest):
    """requests over IPv6 are answered"""
    daemon.ensure(guest, "virtio", VIRTIO)
    check_requests(guest, URL_6IN6)


def test_hash(_):
    """the hash by which the next tests predict a queue gives what its specification says"""
    for result, source, source_port, destination, destination_port in (
            (0x51ccc178, "66.9.149.187", 2794, "161.142.100.80", 1766),
            (0x40207d3d, "3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766)):
        assert tcp_hash(source, source_port, destination, destination_port) == result


def open_flows(guest, url, destination, source, queue):
    """Requests from ports that the NIC's hash gives to one queue."""
    ports = (port for port in random.sample(PORTS, len(PORTS))
             if tcp_hash(source, port, destination, 80) % VIRTIO.queues == queue)
    traffic.backends_of(guest.settings, url, list(itertools.islice(ports, FLOWS)))


def test_queues(guest):
    """the NIC spreads flows over the workers by its hash of their addresses and ports"""
    daemon.ensure(guest, "virtio", VIRTIO)
    before = daemon.flows(guest)
    for queue in range(VIRTIO.queues):
        open_flows(guest, URL_4IN4, VIP4, CLIENT.address4, queue)
        open_flows(guest, URL_6IN6, VIP6, CLIENT.address6, queue)
        after = daemon.flows(guest)
        grown = [(now[0] - then[0], now[1] - then[1]) for then, now in zip(before, after)]
        # Expect: all at one worker. Spread by anything else that happens once in 2^24 runs.
        wanted = [(FLOWS, FLOWS) if i == queue else (0, 0) for i in range(VIRTIO.queues)]
        assert grown == wanted, f"flows for queue {queue}, by worker (IPv4, IPv6): {grown}"
        before = after


def test_upload_v4(guest):
    """5 MB in full-sized packets go up intact over IPv4"""
    daemon.ensure(guest, "virtio", VIRTIO)
    check_upload(guest, URL_4IN4)


def test_upload_v6(guest):
    """5 MB in full-sized packets go up intact over IPv6"""
    daemon.ensure(guest, "virtio", VIRTIO)
    check_upload(guest, URL_6IN6)


def test_link(guest):
    """a link that goes down and comes up shows in the status, and traffic goes on"""
    daemon.ensure(guest, "virtio", VIRTIO)
    check_link(guest, VIRTIO, URL_4IN4)


def test_stop(guest):
    """SIGTERM ends penstockd with 0, and its hugepages are free again"""
    daemon.ensure(guest, "virtio", VIRTIO)
    assert daemon.stop(guest) == 0, daemon.log(guest)
    assert daemon.free_hugepages(guest) >= 64
