"""A penstock host that keeps its state goes on where it ended, however it ended."""

import random
import signal

from penstock_lab import balancers, network, traffic
from penstock_lab.long_connections import LongConnections, Upload
from penstock_lab.settings import BACKENDS, BALANCERS, URL_4IN4

HOST = BALANCERS[0].name
DRAINED = BACKENDS[0]
OTHERS = {backend.name for backend in BACKENDS[1:]}
UPLOADS = 60
# As many of them as begin before a drain in slots of the backend to be drained, and as many as begin
# during it in such slots, on stand-ins: a table that knows nothing of these sends their packets to
# the drained backend, as it must those of flows from before.
CHANGED = 15
REQUESTS = 60
# Below the ports the kernel gives away, so that nothing else uses them.
PORTS = range(20000, 30000)


def choose_ports(lab):
    """(before the drain, during it, of these in slots of the drained backend). The lab's own pool
    has the same table."""
    ports = random.sample(PORTS, 3 * UPLOADS)
    owners = dict(zip(ports, traffic.backends_of(lab.settings, URL_4IN4, ports)))
    own = [port for port in ports if owners[port] == DRAINED.name]
    others = [port for port in ports if owners[port] in OTHERS]
    assert len(own) >= 2 * CHANGED and len(others) >= UPLOADS - 2 * CHANGED, \
        f"too few ports of {len(ports)} lead where they are wanted: {len(own)}, {len(others)}"
    half = UPLOADS // 2 - CHANGED  # of the 30 before and of the 30 during the drain
    before = own[:CHANGED] + others[:half]
    during = own[CHANGED:2 * CHANGED] + others[half:2 * half]
    return before, during, set(own[CHANGED:2 * CHANGED])


def what_runs(lab):
    """{what: value} of all that a restart must bring back, and that nobody applies again."""
    backends = balancers.pool_backends(lab.settings, HOST, "web")
    return {"config": balancers.get(lab.settings, HOST, "get", "config"),
            "pools": balancers.pools(lab.settings, HOST),
            "states": {address: (one["adminState"], one.get("slots"))
                       for address, one in backends.items()}}


def check_restart(lab, how):
    """Returns (ports of the uploads that broke, ports of those in changed slots)."""
    before, during, changed = choose_ports(lab)
    network.set_next_hops(lab.settings, [HOST])
    try:
        with balancers.told_over_rpc(lab.settings, balancers.services_text()), \
                LongConnections(lab.settings) as uploads:
            uploads.open(before, [Upload])
            balancers.control_all(lab.settings, "backend", "drain", "web", DRAINED.address4)
            uploads.open(during, [Upload])
            # Expect: old ones on the drained backend, and new ones in its slots elsewhere.
            on_drained = uploads.ports_of(DRAINED.name)
            assert len(on_drained) == CHANGED and on_drained <= set(before), \
                f"on {DRAINED.name}: {on_drained}"
            lost = restart(lab, uploads, how)
    finally:
        network.set_next_hops(lab.settings, [balancer.name for balancer in BALANCERS])
    return lost, changed


def restart(lab, uploads, how):
    """In the middle of the uploads. Returns the ports of those that broke."""
    uploads.wait_for_progress()
    running = what_runs(lab)
    assert not uploads.broken(), f"broken before the restart: {uploads.broken()}"
    balancers.restart_one(lab.settings, HOST, how)
    now = what_runs(lab)
    other = [what for what in running if now[what] != running[what]]
    assert not other, f"not what ran before: {other}; were {running['states']}, are {now['states']}"
    uploads.wait_for_progress(seconds=15)
    counts = traffic.spread(lab.settings, REQUESTS, URL_4IN4)
    assert set(counts) == OTHERS, f"{DRAINED.name} was drained, new connections: {counts}"
    uploads.finish()
    return uploads.broken().keys()


def test_C03_planned_restart(lab):
    """a restart keeps the configuration and the drain, and breaks none of 60 running uploads"""
    lost, changed = check_restart(lab, signal.SIGTERM)
    print(f"   SIGTERM: {len(lost)} of {UPLOADS} uploads broke, {len(lost & changed)} of "
          f"{len(changed)} in slots that had changed hands", flush=True)
    assert not lost, f"{len(lost)} of {UPLOADS} uploads broke"


def test_C03_kill(lab):
    """kill -9 keeps the configuration and the drain, and breaks only flows in changed slots"""
    lost, changed = check_restart(lab, signal.SIGKILL)
    print(f"   kill -9: {len(lost)} of {UPLOADS} uploads broke, {len(lost & changed)} of "
          f"{len(changed)} in slots that had changed hands", flush=True)
    assert lost <= changed, f"broke in slots that had not changed hands: {sorted(lost - changed)}"
