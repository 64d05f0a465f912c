"""Two ports: clients' packets come in at one, and leave for the backends at the other."""

import contextlib
import dataclasses

from penstock_lab import backends, traffic, variants
from penstock_lab.commands import ip_batch, run, run_in
from penstock_lab.settings import (BACKENDS, BALANCERS, CLIENT, ROUTER, URL_4IN4, URL_6IN6, VIP4,
                                   VIP6)

HOST = BALANCERS[0]
# The way to the backends: a second link of the host, with networks of its own.
INNER = dataclasses.replace(HOST, name="lb1-inner", prefix4="10.2.11", prefix6="2001:db8:2:11")
INNER_LINK = "eth1"
REQUESTS = 60
RING = "blocksz=65536,framesz=2048,framecnt=8192,qpairs=1,qdisc_bypass=0"


@contextlib.contextmanager
def second_link(lab):
    router, here = lab.settings.namespace(ROUTER), lab.settings.namespace(HOST.name)
    try:
        ip_batch([f"link add {INNER.link} mtu {INNER.mtu} type veth peer name {INNER_LINK} "
                  f"mtu {INNER.mtu} netns {here}",
                  f"link set {INNER.link} up",
                  f"addr add {INNER.gateway4}/24 dev {INNER.link}",
                  f"addr add {INNER.gateway6}/64 dev {INNER.link} nodad"], router)
        ip_batch([f"link set {INNER_LINK} up"], here)
        run_in(lab.settings, ROUTER, "ethtool", "-K", INNER.link, "tx", "off", "tso", "off", "gso",
               "off")
        yield
    finally:
        run("ip", "-n", router, "link", "del", INNER.link, check=False)


def two_arms(lab):
    """Backends are reached through the first port with a gateway of their family: that is `inner`.
    What penstock answers itself leaves where the question came in."""
    ports = [variants.port(INNER, f"net_af_packet1,iface={INNER_LINK},{RING}", "inner"),
             variants.port(HOST, f"net_af_packet0,iface=eth0,{RING}", "uplink")]
    return variants.running(lab.settings, HOST, [0], ports)


def ping(lab, address):
    run_in(lab.settings, CLIENT.name, "ping", "-q", "-c", "1", "-W", "2", address)


def test_two_arms(lab):
    """requests and an upload come in at the uplink and leave at the other port, answers go back"""
    with second_link(lab), two_arms(lab):
        before = variants.workers(lab.settings, HOST)
        names = [backend.name for backend in BACKENDS]
        for url in (URL_4IN4, URL_6IN6):
            counts = traffic.spread(lab.settings, REQUESTS, url)
            assert set(counts) == set(names), f"{url}: {counts}"
        try:
            upload = traffic.start_upload(lab.settings, URL_4IN4, "arms", file="part")
            _, problem = traffic.finish_upload(lab.settings, upload, "arms", file="part")
            assert not problem, problem
        finally:
            backends.forget_uploads(lab.settings)
        for vip in (VIP4, VIP6):
            ping(lab, vip)
        worker = variants.grown(before, variants.workers(lab.settings, HOST))[0]
        uplink, inner = worker["uplink"], worker["inner"]
        # Expect: all that was forwarded came in there and left here; ARP and pings aside.
        assert uplink["forwarded"] >= backends.FILES["part"] / CLIENT.mtu, worker
        assert inner["forwarded"] == 0, worker
        assert uplink["forwarded"] <= inner["transmitted"] <= uplink["forwarded"] + 20, worker
        assert 2 <= uplink["transmitted"] <= 20 and uplink["answered"] >= 2, worker
        variants.check_sums(lab.settings, HOST)
