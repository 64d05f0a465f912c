"""Namespaces, links, addresses and routes: a pure L3 fabric, one veth per host."""

import contextlib
import ctypes
import json
import os
import time

from .commands import ip_batch, run, run_in
from .settings import BACKENDS, BALANCERS, CLIENT, HOSTS, NAMES, ROUTER, VIP4, VIP6, host

_CLONE_NEWNET = 0x40000000  # linux/sched.h

# Before the links exist, because a link copies `default` when it is made. No duplicate address
# detection: an address would be unusable for its first second.
_EVERYWHERE = ("net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0",
               "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.default.router_solicitations=0",
               "net.ipv6.conf.default.accept_ra=0", "net.ipv4.ping_group_range=0 2147483647",
               # A Linux socket draws a new flow hash after each timeout, and on a veth the router
               # spreads by that hash: a flow would change its penstock host by itself.
               "net.core.txrehash=0")
# L4 hashes, else all of the client's flows take one next hop. keep_addr_on_down: a link that flaps
# would come back without its IPv6 address.
_ROUTER = ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
           "net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.fib_multipath_hash_policy=1",
           "net.ipv6.conf.all.keep_addr_on_down=1", "net.ipv6.conf.default.keep_addr_on_down=1")
# The daemon owns the link; the kernel gets a copy of each packet and must not answer.
_BALANCER = ("net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1",
             "net.ipv4.conf.all.arp_ignore=8", "net.ipv4.conf.default.arp_ignore=8",
             "net.ipv4.ip_forward=0")
# Small buffers at both ends, so that a download slowed down at the client is slow on the wire too.
# No waiting time for closed connections: tests use a source port again at once, on another route.
_CLIENT = ("net.ipv4.tcp_rmem=4096 131072 262144", "net.ipv4.tcp_max_tw_buckets=0")
# arp_ignore: nobody may learn from a backend's kernel where the VIP is. No waiting time either: a
# backend that remembers a connection answers astray packets of a later one from the same port with
# acknowledgements, and it would hang instead of break.
_BACKEND = ("net.ipv4.tcp_wmem=4096 65536 262144", "net.ipv4.tcp_max_tw_buckets=0",
            "net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2")


def create(settings):
    ip_batch(f"netns add {settings.namespace(name)}" for name in NAMES)
    _sysctls(settings, ROUTER, _ROUTER)
    _sysctls(settings, CLIENT.name, _CLIENT)
    for balancer in BALANCERS:
        _sysctls(settings, balancer.name, _BALANCER)
    for backend in BACKENDS:
        _sysctls(settings, backend.name, _BACKEND)
    router = settings.namespace(ROUTER)
    ip_batch(f"link add {one.link} {_queues(one)} netns {router} type veth "
             f"peer name eth0 {_queues(one)} netns {settings.namespace(one.name)}"
             for one in HOSTS)
    for one in HOSTS:
        ip_batch(_host_commands(one), settings.namespace(one.name))
    ip_batch(_router_commands(), router)
    for balancer in BALANCERS:
        # A veth hands over unfinished checksums and 64 KB segments; the kernel at the far end would
        # finish them, but there is a daemon that reads frames.
        run_in(settings, ROUTER, "ethtool", "-K", balancer.link, "tx", "off", "tso", "off",
               "gso", "off")
    set_next_hops(settings, [balancer.name for balancer in BALANCERS])


def _queues(one):
    """Those of a penstock host have two queues, so that AF_XDP has something to choose from."""
    return "numrxqueues 2 numtxqueues 2" if one in BALANCERS else ""


def remove(settings):
    """Removes what is there. Processes must be gone: they would keep their namespace alive."""
    there = existing_namespaces(settings)
    if not there:
        return
    for namespace in there:
        # A killed `ip netns add` leaves a file without a mount, which only `rm` removes.
        if run("ip", "netns", "del", namespace, check=False).returncode != 0:
            os.unlink(f"/run/netns/{namespace}")


def existing_namespaces(settings):
    names = (settings.namespace(name) for name in NAMES)
    return [name for name in names if os.path.lexists(f"/run/netns/{name}")]


def set_next_hops(settings, names):
    """Routes both VIPs via the named hosts: one, several (ECMP), or a backend without penstock."""
    hosts = [host(name) for name in names]
    ip_batch([_vip_route(f"{VIP4}/32", [one.address4 for one in hosts]),
              _vip_route(f"{VIP6}/128", [one.address6 for one in hosts])],
             settings.namespace(ROUTER))


def wait_for_neighbors(settings, names, timeout=5.0):
    """Makes the router learn the MACs of the named hosts, so that no first packet waits for it."""
    deadline = time.monotonic() + timeout
    missing = [address for name in names for address in (host(name).address4, host(name).address6)]
    while missing and time.monotonic() < deadline:
        for address in missing:
            # Nobody answers the echo of a mute host; the neighbour entry is what counts.
            run_in(settings, ROUTER, "ping", "-c1", "-W0.2", "-q", address, check=False)
        shown = run("ip", "-n", settings.namespace(ROUTER), "neigh", "show").stdout
        known = {line.split()[0] for line in shown.splitlines() if "lladdr" in line}
        missing = [address for address in missing if address not in known]
    return missing


def _sysctls(settings, name, values):
    run_in(settings, name, "sysctl", "-qw", *_EVERYWHERE, *values)


def _host_commands(one):
    yield "link set lo up"
    yield f"link set eth0 mtu {one.mtu} up"
    if one in BALANCERS:
        return
    yield f"addr add {one.address4}/24 dev eth0"
    yield f"addr add {one.address6}/64 dev eth0 nodad"
    yield f"route add default via {one.gateway4}"
    yield f"route add default via {one.gateway6}"
    if one in BACKENDS:
        yield f"addr add {VIP4}/32 dev lo"
        yield f"addr add {VIP6}/128 dev lo nodad"


def _router_commands():
    yield "link set lo up"
    for one in HOSTS:
        yield f"link set {one.link} mtu {one.mtu} up"
        yield f"addr add {one.gateway4}/24 dev {one.link}"
        yield f"addr add {one.gateway6}/64 dev {one.link} nodad"


def _vip_route(prefix, gateways):
    if len(gateways) == 1:
        return f"route replace {prefix} via {gateways[0]}"
    hops = " ".join(f"nexthop via {gateway}" for gateway in gateways)
    return f"route replace {prefix} {hops}"


def kernel_counters(settings, name):
    """{SNMP name: value} of what a namespace's kernel counts."""
    return json.loads(run_in(settings, name, "nstat", "-asz", "-j").stdout)["kernel"]


@contextlib.contextmanager
def inside_namespace(settings, name):
    """Sockets opened in this block belong to the namespace, also after it."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{settings.namespace(name)}", os.O_RDONLY)
    try:
        if libc.setns(there, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        yield
    finally:
        libc.setns(home, _CLONE_NEWNET)
        os.close(there)
        os.close(home)
