"""Who gets a packet: the pool's table and the flow table, docs/HASHING.md and CONSISTENCY.md.

The flow table here never fills up and never forgets: runs use tables that are large for them.
"""

import dataclasses

import model_hash
from model_config import TCP, Backend, Pool, Service

SYN_TIMEOUT = 130  # seconds, a flow of which only SYNs were seen
CHALLENGE_TIME = 5  # seconds after which a draining backend gets no SYN of a known flow
FIN, SYN, RST, ACK = 1, 2, 4, 16

FlowId = tuple[bytes, bytes, int, int, int]  # source, destination, ports, protocol


@dataclasses.dataclass
class Entry:
    backend: Backend
    seen: int  # second of the last packet
    syn_only: bool


class Table:
    """Slots of a pool: who gets new flows, and who had them before."""

    def __init__(self, pool: Pool, on_no_backend: str, key: tuple[int, ...]):
        self.pool = pool
        addresses = tuple(b.address for b in pool.backends)
        weights = tuple(b.weight for b in pool.backends)
        self.owners = model_hash.maglev(addresses, weights, pool.table_size, key)
        self._key = key
        self.usable = self._usable(on_no_backend)

    def _usable(self, on_no_backend: str) -> set[int]:
        weighted = [(i, b) for i, b in enumerate(self.pool.backends) if b.weight > 0]
        active = {i for i, b in weighted if b.state == "active"}
        if active or on_no_backend == "drop":
            return active
        return {i for i, b in weighted if b.state == "draining"}

    def current(self, slot: int) -> Backend | None:
        owner = self.owners[slot]
        if owner is not None and owner not in self.usable:
            owner = model_hash.stand_in(slot, self.owners, self.usable, self._key)
        return None if owner is None else self.pool.backends[owner]

    def mid_stream(self, slot: int) -> Backend | None:
        """For TCP packets that no entry knows: the draining owner goes on."""
        owner = self.owners[slot]
        if owner is not None and self.pool.backends[owner].state == "draining":
            return self.pool.backends[owner]
        return self.current(slot)

    def takes_new_flows(self, backend: Backend) -> bool:
        return self.pool.backends.index(backend) in self.usable


class Flows:
    """The choice of the backend, and what is remembered of it."""

    def __init__(self, seed: bytes):
        self.key = model_hash.key_from_seed(seed)
        self._entries: dict[tuple, Entry] = {}
        self._tables: dict[tuple[str, str], Table] = {}

    def table(self, service: Service) -> Table:
        names = (service.pool.name, service.on_no_backend)
        if names not in self._tables:
            self._tables[names] = Table(service.pool, service.on_no_backend, self.key)
        return self._tables[names]

    def hash_of(self, flow: FlowId) -> int:
        source, destination, sport, dport, protocol = flow
        return model_hash.flow_hash(source, destination, sport, dport, protocol, self.key)

    def slot(self, flow: FlowId, kind: str, size: int) -> int:
        source, destination, sport, _, _ = flow
        if kind == "source_address":
            flow = (source, destination, 0, 0, 0)
        elif kind == "source_address_port":
            flow = (source, destination, sport, 0, 0)
        return model_hash.slot_of(self.hash_of(flow), size)

    def _fresh(self, service: Service, flow: FlowId, now: int) -> Entry | None:
        """The entry that a packet which is no SYN may follow."""
        entry = self._entries.get(flow)
        if entry is None or entry.backend.state == "disabled":
            return None
        if flow[4] != TCP and now - entry.seen > service.udp_idle:
            return None
        return entry

    def peek(self, service: Service, flow: FlowId, now: int) -> Backend | None:
        """The backend of a flow that an ICMP error is about; nothing is touched."""
        entry = self._fresh(service, flow, now)
        if entry:
            return entry.backend
        table = self.table(service)
        slot = self.slot(flow, service.hash, service.pool.table_size)
        return table.mid_stream(slot) if flow[4] == TCP else table.current(slot)

    def _keeps_syn(self, service: Service, entry: Entry, now: int) -> bool:
        """Whether a SYN follows the entry it meets."""
        age = now - entry.seen
        if entry.backend.state == "disabled":
            return False
        if entry.syn_only and age <= SYN_TIMEOUT:
            return True
        if self.table(service).takes_new_flows(entry.backend):
            return True
        return entry.backend.state == "draining" and age <= CHALLENGE_TIME

    def choose(self, service: Service, flow: FlowId, flags: int | None,
               now: int) -> Backend | None:
        """Of a TCP (`flags`) or UDP packet."""
        table, entry = self.table(service), self._entries.get(flow)
        slot = self.slot(flow, service.hash, service.pool.table_size)
        if flags is not None and flags & (SYN | ACK | FIN | RST) == SYN:
            if entry and self._keeps_syn(service, entry, now):
                entry.seen = now
                return entry.backend
            return self._record(flow, table.current(slot), now, True)
        if flags is not None and (flags & SYN or not flags & (FIN | RST | ACK)):
            return self.peek(service, flow, now)  # without sense: nothing changes
        entry = self._fresh(service, flow, now)
        if entry:
            entry.seen, entry.syn_only = now, False
            return entry.backend
        if flags is None:
            return self._record(flow, table.current(slot), now, False)
        backend = table.mid_stream(slot)
        return backend if flags & RST else self._record(flow, backend, now, False)

    def _record(self, flow: FlowId, backend: Backend | None, now: int,
                syn_only: bool) -> Backend | None:
        if backend:
            self._entries[flow] = Entry(backend, now, syn_only)
        return backend
