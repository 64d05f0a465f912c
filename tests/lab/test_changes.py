"""Two hundred long connections live through every change of the pool and of the hosts."""

import random
import time

from penstock_lab import backends, balancers, network, traffic
from penstock_lab.long_connections import LongConnections
from penstock_lab.settings import BACKENDS, BALANCERS, URL_4IN4

FIRST, SECOND, THIRD = BACKENDS
LEAVING = BALANCERS[0].name
STAYING = BALANCERS[1].name
CONNECTIONS = 200
LATE = 20  # connections that begin on the third backend and end before it is removed
# Below the ports the kernel gives away, so that nothing else uses them.
PORTS = range(20000, 30000)
# A slot's long-time owner is who held it longest, in a pool as young as this one: the backends are
# together for this long before a host that has not seen the flows has to find their backend.
SETTLED_SECONDS = 6


def both():
    return [balancer.name for balancer in BALANCERS]


def choose_ports(lab):
    """({port: backend in a pool of three}, late ports). The lab's own pool is one of three: asking
    it tells where each flow would be if the third backend had been there from the start."""
    ports = random.sample(PORTS, CONNECTIONS + 8 * LATE)
    owners = dict(zip(ports, traffic.backends_of(lab.settings, URL_4IN4, ports)))
    late = [port for port in ports[CONNECTIONS:] if owners[port] == THIRD.name][:LATE]
    assert len(late) == LATE, f"only {len(late)} of {8 * LATE} ports lead to {THIRD.name}"
    return {port: owners[port] for port in ports[:CONNECTIONS]}, late


def same_digests(lab):
    """Polled: the hosts may have been told in different seconds, and who held a slot the longest is
    counted in seconds."""
    deadline = time.monotonic() + 3
    while True:
        shown = [balancers.pools(lab.settings, name)["web"]["digest"] for name in both()]
        if shown[0] == shown[1]:
            return
        assert time.monotonic() < deadline, f"the hosts differ: {shown}"
        time.sleep(0.1)


class Changes:
    """The steps, each over when every connection has got further; what broke is counted by step."""

    def __init__(self, lab, connections):
        self.lab, self.connections = lab, connections

    def step(self, what, change, *arguments):
        before = self.connections.broken()
        change(*arguments)
        self.connections.wait_for_progress()
        new = {port: problem for port, problem in self.connections.broken().items()
               if port not in before}
        print(f"   {what}: {len(new)} broken", flush=True)
        return new

    def harmless(self, what, change, *arguments, but=()):
        """Nothing breaks, unless it is one of `but`."""
        new = self.step(what, change, *arguments)
        lost = [(port, self.connections.backend_of(port), problem)
                for port, problem in new.items() if port not in but]
        assert not lost, f"{what}: {len(lost)} broke: {lost[:5]}"

    def apply(self, *web, **weights):
        balancers.apply(self.lab.settings, balancers.services_text(web, weights))
        same_digests(self.lab)

    def edit(self, how, backend):
        balancers.control_all(self.lab.settings, "backend", how, "web", backend.address4)

    def route(self, *names):
        network.set_next_hops(self.lab.settings, names)


def change_pool(changes, late):
    """Add, drain, re-weight: whatever a slot's owner is now, its flows stay."""
    changes.harmless(f"{THIRD.name} added", changes.apply, FIRST, SECOND, THIRD)
    changes.connections.open(late)
    strayed = [port for port in late if changes.connections.backend_of(port) != THIRD.name]
    assert not strayed, f"{THIRD.name} is in the pool and does not get {strayed}"
    changes.harmless(f"{FIRST.name} drained", changes.edit, "drain", FIRST)
    changes.harmless(f"{SECOND.name} re-weighted", lambda: changes.apply(
        FIRST, SECOND, THIRD, **{SECOND.name: 300}))


def move_hosts(lab, changes, begun, late):
    """One host leaves the router's next hops and comes back. Returns the ports of the flows that
    were seen on both. `late` ones began while their slots had a previous owner, and the host they
    come to cannot know that: see docs/CONSISTENCY.md."""
    with traffic.captured_flows(lab.settings, "tcp dst port 80") as packets:
        changes.connections.wait_for_progress()
        changes.harmless(f"{LEAVING} out of the router's hops", changes.route, STAYING, but=late)
        took = time.monotonic() - begun
        changes.harmless(f"{LEAVING} back", changes.route, LEAVING, STAYING)
        seen = packets()
    assert took < 2 * SETTLED_SECONDS, "this machine is too slow to prove anything"
    lost = changes.connections.broken().keys()
    moved = {port for port in seen[LEAVING] if all(seen[one][port] for one in both())}
    assert lost <= moved, f"broke without a move to another host: {sorted(lost - moved)}"
    print(f"   lost with the host: {len(lost)} of {len(moved & set(late))} that moved and had begun "
          f"in slots with a previous owner, 0 of {len(moved - set(late))} others")
    return moved - set(late)


def end_third(changes, late):
    changes.harmless(f"{FIRST.name} undrained", changes.edit, "undrain", FIRST)
    changes.harmless(f"{THIRD.name} drained", changes.edit, "drain", THIRD)
    lost = set(changes.connections.broken())
    changes.connections.finish(late)
    assert set(changes.connections.broken()) == lost, f"broke: {changes.connections.broken()}"
    changes.harmless(f"{THIRD.name} removed", lambda: changes.apply(
        FIRST, SECOND, **{SECOND.name: 300}))


def kill_second(lab, changes):
    """Its own connections, all of them, and no other."""
    own = changes.connections.ports_of(SECOND.name)

    def kill():
        backends.kill_server(lab.settings, SECOND.name)
        # What its kernel has taken over from it still comes, and then the end.
        changes.connections.finish(own)
    new = changes.step(f"{SECOND.name} killed, of its {len(own)}", kill).keys()
    assert new == own, f"broke beside its own: {sorted(new - own)[:5]}, " \
        f"whole: {sorted(own - new)[:5]}"


def run_all(lab, connections, owners, late):
    connections.open(owners)
    begun = time.monotonic()
    changed = {port for port, name in owners.items() if connections.backend_of(port) != name}
    assert len(changed) >= CONNECTIONS // 5, f"only {len(changed)} flows in slots that change hands"
    time.sleep(SETTLED_SECONDS)
    changes = Changes(lab, connections)
    change_pool(changes, late)
    moved = move_hosts(lab, changes, begun, late)
    assert len(moved & changed) >= 10, f"of {len(moved)} flows seen on both hosts, " \
        f"{len(moved & changed)} in slots that changed hands"
    print(f"   {len(changed)} of {CONNECTIONS} flows in slots that changed hands, {len(moved)} "
          f"seen on both hosts, {len(moved & changed)} are both")
    end_third(changes, late)
    kill_second(lab, changes)
    rest = connections.ports_of(FIRST.name) - set(late)
    connections.finish(rest)
    lost = connections.broken().keys() & rest
    assert not lost, f"not whole in the end: {sorted(lost)[:5]}"


def test_F08_connections_survive_every_change(lab):
    """of 200 connections none breaks while backends and hosts come and go; a dead backend's do"""
    owners, late = choose_ports(lab)
    try:
        with balancers.told_over_rpc(lab.settings, balancers.services_text((FIRST, SECOND))):
            with LongConnections(lab.settings) as connections:
                run_all(lab, connections, owners, late)
    finally:
        network.set_next_hops(lab.settings, both())
        backends.kill_server(lab.settings, SECOND.name)
        backends.start_server(lab.settings, SECOND.name)
