"""Direct routing: a backend on penstock's own segment gets the packet as it is, by its MAC."""

import contextlib

from penstock_lab import backends, balancers, network, traffic
from penstock_lab.commands import ip_batch, run
from penstock_lab.frames import mac_of
from penstock_lab.settings import BACKENDS, BALANCERS, CLIENT_MTU, ROUTER, VIP4, VIP6

HOST = BALANCERS[0]
BACKEND = BACKENDS[0]
SWITCH, PORT, BACKEND_LINK = "l2", "r-l2", "eth1"
ADDRESS4, ADDRESS6 = f"{HOST.prefix4}.11", f"{HOST.prefix6}::11"
URL4, URL6 = f"http://{VIP4}", f"http://[{VIP6}]"
REQUESTS = 20

SERVICES = f"""\
hash: {{seed: "lab"}}
pools:
  - {{name: near, backends: [{{address: {ADDRESS4}}}]}}
  - {{name: near6, backends: [{{address: "{ADDRESS6}"}}]}}
services:
  - {{name: web, address: {VIP4}, protocol: tcp, ports: [80], pool: near, encapsulation: l2}}
  - {{name: web6, address: "{VIP6}", protocol: tcp, ports: [80], pool: near6, encapsulation: l2}}
"""


def gateway_on(link):
    return [f"addr replace {HOST.gateway4}/24 dev {link}",
            f"addr replace {HOST.gateway6}/64 dev {link} nodad"]


def gateway_off(link):
    return [f"addr del {HOST.gateway4}/24 dev {link}", f"addr del {HOST.gateway6}/64 dev {link}"]


def connect_backend(lab):
    """Puts a switch between the router and the penstock host, and the backend's second link on it.
    The router keeps its MAC address, so that the daemon notices nothing."""
    router = lab.settings.namespace(ROUTER)
    mac = mac_of(lab.settings, ROUTER, HOST.link)
    ip_batch([f"link add {SWITCH} address {mac} mtu {HOST.mtu} type bridge mcast_snooping 0",
              f"link add {PORT} mtu {HOST.mtu} type veth peer name {BACKEND_LINK} "
              f"netns {lab.settings.namespace(BACKEND.name)}",
              f"link set {PORT} master {SWITCH} up", f"link set {HOST.link} master {SWITCH}",
              f"link set {SWITCH} up", *gateway_off(HOST.link), *gateway_on(SWITCH)], router)
    ip_batch([f"link set {BACKEND_LINK} mtu {HOST.mtu} up",
              f"addr add {ADDRESS4}/24 dev {BACKEND_LINK}",
              f"addr add {ADDRESS6}/64 dev {BACKEND_LINK} nodad"],
             lab.settings.namespace(BACKEND.name))


def disconnect_backend(lab):
    """Also after half of the above."""
    router = lab.settings.namespace(ROUTER)
    for link in (SWITCH, PORT):
        run("ip", "-n", router, "link", "del", link, check=False)
    ip_batch(gateway_on(HOST.link), router)
    network.set_next_hops(lab.settings, [balancer.name for balancer in BALANCERS])
    network.wait_for_neighbors(lab.settings, [HOST.name])


@contextlib.contextmanager
def shared_segment(lab):
    """One penstock host and one backend on one segment, and all traffic through that host."""
    try:
        connect_backend(lab)
        network.set_next_hops(lab.settings, [HOST.name])
        balancers.reload(lab.settings, HOST.name, SERVICES)
        yield
    finally:
        disconnect_backend(lab)
        balancers.reload(lab.settings, HOST.name, balancers.services_text())


def upload(lab):
    try:
        process = traffic.start_upload(lab.settings, URL4, "near", file="part")
        return traffic.finish_upload(lab.settings, process, "near", file="part")
    finally:
        backends.forget_uploads(lab.settings)


def unwrapped(lab):
    kinds = backends.decap_packets(lab.settings)[BACKEND.name]
    return {kind: value for kind, value in kinds.items() if kind != "passed"}


def test_l2(lab):
    """requests over IPv4 and IPv6 and an upload reach an l2 backend unwrapped, and are answered"""
    with shared_segment(lab):
        before, forwarded = unwrapped(lab), balancers.counters(lab.settings, HOST.name)["forwarded"]
        for url in (URL4, URL6):
            counts = traffic.spread(lab.settings, REQUESTS, url)
            assert counts == {BACKEND.name: REQUESTS}, f"{url}: {counts}"
        assert upload(lab) == (BACKEND.name, "")
        forwarded = balancers.counters(lab.settings, HOST.name)["forwarded"] - forwarded
        # Expect: through penstock, with nothing to unwrap at the other end.
        assert forwarded >= backends.FILES["part"] / CLIENT_MTU, f"only {forwarded} packets"
        assert unwrapped(lab) == before, f"was {before}, is {unwrapped(lab)}"
