"""Two penstock hosts are one load balancer: a flow may change the host and not the backend."""

import random
import time

from penstock_lab import backends, balancers, network, traffic
from penstock_lab.settings import BALANCERS, URL_4IN4, URL_4IN6, URL_6IN4, URL_6IN6

FIRST, SECOND = (balancer.name for balancer in BALANCERS)
FLOWS = 20
# Below the ports the kernel gives away, so that nothing else uses them.
PORTS = range(20000, 30000)


def both(lab):
    network.set_next_hops(lab.settings, [FIRST, SECOND])


def test_digests(lab):
    """both hosts show the same digest for every pool"""
    first, second = ({name: pool["digest"] for name, pool in balancers.pools(
        lab.settings, one).items()} for one in (FIRST, SECOND))
    assert first and all(first.values()), f"no digests: {first}"
    assert first == second, f"{FIRST}: {first}, {SECOND}: {second}"


def check_same_backend(lab, url):
    ports = random.sample(PORTS, FLOWS)
    chosen = {}
    try:
        for name in (FIRST, SECOND):
            network.set_next_hops(lab.settings, [name])
            chosen[name] = traffic.backends_of(lab.settings, url, ports)
            assert len(chosen[name]) == FLOWS, f"ports {ports}: {chosen}"
    finally:
        both(lab)
    assert chosen[FIRST] == chosen[SECOND], f"ports {ports}: {chosen}"
    # Expect: not the same because there was only one to choose; by chance once in 10^9 runs.
    assert len(set(chosen[FIRST])) > 1, f"only {chosen[FIRST][0]} was ever chosen"


def test_same_backend_v4(lab):
    """the same IPv4 flows reach the same backends through either host"""
    check_same_backend(lab, URL_4IN4)
    check_same_backend(lab, URL_4IN6)


def test_same_backend_v6(lab):
    """the same IPv6 flows reach the same backends through either host"""
    check_same_backend(lab, URL_6IN6)
    check_same_backend(lab, URL_6IN4)


def check_move(lab, url):
    """Starts an upload through one host and moves the route to the other in the middle of it."""
    port = random.choice(PORTS)
    try:
        network.set_next_hops(lab.settings, [FIRST])
        with traffic.captured(lab.settings, f"tcp port {port}") as packets:
            upload = traffic.start_upload(lab.settings, url, "moved", rate="12M", local_port=port)
            time.sleep(1.5)
            assert upload.poll() is None, "the upload ended before the route moved"
            network.set_next_hops(lab.settings, [SECOND])
            _, problem = traffic.finish_upload(lab.settings, upload, "moved")
            seen = packets()
    finally:
        both(lab)
        backends.forget_uploads(lab.settings)
    assert not problem, problem
    # Expect: the one flow really was on both, each with a fair part of its 50 MB.
    assert min(seen.values()) > 1000, f"packets of the flow by host: {seen}"


def test_move_v4(lab):
    """an IPv4 upload survives the move of its route to the other host"""
    check_move(lab, URL_4IN4)


def test_move_v6(lab):
    """an IPv6 upload survives the move of its route to the other host"""
    check_move(lab, URL_6IN6)
