"""Ports in a VLAN: what comes with a tag is served, and what leaves bears exactly one."""

import contextlib
from pathlib import Path

from penstock_lab import backends, balancers, traffic
from penstock_lab.commands import run, run_in
from penstock_lab.settings import BALANCERS, GUE_66, ROUTER, URL_4IN4, URL_6IN6

VLAN = 100  # as in vlan.bpf.c
PROGRAM = Path(__file__).parent / "vlan.bpf.c"
REQUESTS = 30


def compile_program(lab):
    built = lab.settings.directory / "vlan.o"
    run("clang-14", "-O2", "-g", "-target", "bpf", "-I/usr/include/x86_64-linux-gnu", "-c", PROGRAM,
        "-o", built)
    return built


@contextlib.contextmanager
def tagged_links(lab):
    """The router's ends of the links to the penstock hosts send and take tagged packets only."""
    program = compile_program(lab)
    try:
        for one in BALANCERS:
            run_in(lab.settings, ROUTER, "tc", "qdisc", "add", "dev", one.link, "clsact")
            for way, section in (("egress", "tc/push"), ("ingress", "tc/pop")):
                run_in(lab.settings, ROUTER, "tc", "filter", "add", "dev", one.link, way, "bpf",
                       "da", "obj", program, "sec", section)
        balancers.restart(lab.settings, vlan=VLAN)
        yield
    finally:
        for one in BALANCERS:
            run_in(lab.settings, ROUTER, "tc", "qdisc", "del", "dev", one.link, "clsact",
                   check=False)
        balancers.restart(lab.settings)


def upload(lab):
    try:
        process = traffic.start_upload(lab.settings, GUE_66.url, "tagged", file="part")
        return traffic.finish_upload(lab.settings, process, "tagged", file="part")[1]
    finally:
        backends.forget_uploads(lab.settings)


def test_vlan(lab):
    """ports in a VLAN find their gateways, and requests and an upload pass in tagged frames"""
    # Expect: both daemons get ready, so ARP and neighbor discovery passed in tagged frames too.
    with tagged_links(lab):
        for url in (URL_4IN4, URL_6IN6):
            traffic.spread(lab.settings, REQUESTS, url)
        assert not upload(lab)
