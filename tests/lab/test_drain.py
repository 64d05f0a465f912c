"""A drained backend finishes what it serves, takes nothing new, and comes back as it was."""

import time

from penstock_lab import balancers, traffic
from penstock_lab.backends import connections
from penstock_lab.settings import BACKENDS, BALANCERS, URL_4IN4

DRAINED = BACKENDS[0]
OTHERS = [backend.name for backend in BACKENDS[1:]]
DOWNLOADS = 50
REQUESTS = 300


def open_connections(lab):
    return {backend.name: connections(lab.settings, backend.name) for backend in BACKENDS}


def wait_for_downloads(lab, earlier):
    """Those that are there besides `earlier` ones: a backend keeps what its client has given up."""
    deadline = time.monotonic() + 5
    while True:
        running = {name: flows - earlier[name] for name, flows in open_connections(lab).items()}
        if sum(map(len, running.values())) >= DOWNLOADS:
            return running
        assert time.monotonic() < deadline, f"{DOWNLOADS} downloads do not start: {running}"
        time.sleep(0.05)


def check_drained(lab, running):
    """While the downloads run: nothing new arrives, nothing that runs is cut."""
    counts = traffic.spread(lab.settings, REQUESTS, URL_4IN4)
    assert DRAINED.name not in counts, f"the drained backend took new connections: {counts}"
    assert not traffic.uneven(counts, OTHERS), traffic.uneven(counts, OTHERS)
    # Expect: the flows that sit in slots with a new owner are still where they were.
    still = connections(lab.settings, DRAINED.name)
    assert running[DRAINED.name] <= still, f"was {running[DRAINED.name]}, is {still}"
    for balancer in BALANCERS:
        listed = balancers.pool_backends(lab.settings, balancer.name, "web")[DRAINED.address4]
        assert "drain" in listed["adminState"].lower(), f"{balancer.name}: {listed}"
        assert int(listed.get("slots", 0)) == 0, f"{balancer.name}: {listed}"


def digests(lab):
    return [balancers.pools(lab.settings, one.name)["web"]["digest"] for one in BALANCERS]


def test_drain_breaks_nothing(lab):
    """50 running downloads survive a drain, the drained backend gets 0 of 300 new connections"""
    earlier = open_connections(lab)
    downloads = traffic.start_downloads(lab.settings, DOWNLOADS, URL_4IN4)
    try:
        running = wait_for_downloads(lab, earlier)
        # Every flow of this backend sits in a slot whose owner is about to change.
        assert running[DRAINED.name], f"no download to test on {DRAINED.name}: {running}"
        balancers.control_all(lab.settings, "backend", "drain", "web", DRAINED.address4)
        check_drained(lab, running)
        assert downloads.poll() is None, "the downloads ended too early to prove anything"
        counts, problem = traffic.finish_downloads(lab.settings, downloads, DOWNLOADS)
        assert not problem, problem
        wanted = {name: len(flows) for name, flows in running.items() if flows}
        assert counts == wanted, f"started on {wanted}, finished on {counts}"
    finally:
        downloads.kill()
        balancers.control_all(lab.settings, "backend", "undrain", "web", DRAINED.address4)


def test_undrain_restores(lab):
    """after a drain and its end the digest and the shares are what they were"""
    before = digests(lab)
    shares = [balancers.pool_backends(lab.settings, one.name, "web") for one in BALANCERS]
    balancers.control_all(lab.settings, "backend", "drain", "web", DRAINED.address4)
    during = digests(lab)
    balancers.control_all(lab.settings, "backend", "undrain", "web", DRAINED.address4)
    assert before[0] == before[1] and during[0] == during[1], f"{before} {during}"
    assert during != before, "the digest does not see a drain"
    assert digests(lab) == before, f"was {before}, is {digests(lab)}"
    for balancer, old in zip(BALANCERS, shares):
        new = balancers.pool_backends(lab.settings, balancer.name, "web")
        assert {address: one["slots"] for address, one in new.items()} == \
            {address: one["slots"] for address, one in old.items()}, f"{old} {new}"
    names = [backend.name for backend in BACKENDS]
    counts = traffic.spread(lab.settings, REQUESTS, URL_4IN4)
    assert not traffic.uneven(counts, names), traffic.uneven(counts, names)
