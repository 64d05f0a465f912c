"""Other MTUs than the lab's for the length of a test, and what the kernels have learned of them."""

import contextlib
import json

from . import balancers
from .commands import ip_batch, run
from .settings import BACKENDS, BALANCERS, CLIENT, ROUTER


@contextlib.contextmanager
def fabric_at(settings, mtu):
    """Every link and port at one MTU, as in a datacenter where nobody has thought of tunnels."""
    hosts = (*BALANCERS, *BACKENDS)
    try:
        _set_links(settings, {one: mtu for one in hosts})
        balancers.restart(settings, mtu)
        yield
    finally:
        _set_links(settings, {one: one.mtu for one in hosts})
        balancers.restart(settings)
        forget(settings, CLIENT)


@contextlib.contextmanager
def router_at(settings, hosts, mtu):
    """The router's end of the links to `hosts` at a smaller MTU: only the router knows of it."""
    router = settings.namespace(ROUTER)
    try:
        ip_batch([f"link set {one.link} mtu {mtu}" for one in hosts], router)
        yield
    finally:
        ip_batch([f"link set {one.link} mtu {one.mtu}" for one in hosts], router)
        forget(settings, CLIENT, *BACKENDS)


def forget(settings, *hosts):
    """Their kernels forget which path MTUs they have learned."""
    for one in hosts:
        for family in ("-4", "-6"):
            run("ip", family, "-n", settings.namespace(one.name), "route", "flush", "cache")


def of_path(settings, name, address):
    """What the kernel of a namespace has learned of the path to an address; None if nothing."""
    done = run("ip", "-j", "-n", settings.namespace(name), "route", "get", address)
    metrics = json.loads(done.stdout)[0].get("metrics", [{}])
    return metrics[0].get("mtu")


def _set_links(settings, wanted):
    """Both ends of the link of each host."""
    ip_batch([f"link set {one.link} mtu {mtu}" for one, mtu in wanted.items()],
             settings.namespace(ROUTER))
    for one, mtu in wanted.items():
        ip_batch([f"link set eth0 mtu {mtu}"], settings.namespace(one.name))
