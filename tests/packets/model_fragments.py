"""What is remembered of first fragments, and which later ones wait: docs/PACKETS.md section 8."""

import dataclasses

from model_config import Backend, Service
from model_parse import Packet

DECISION_SECONDS = 1  # age at which a decision is still used, in whole seconds of the clock
PATIENCE = 500  # milliseconds
MOST_WAITING = 256


@dataclasses.dataclass
class Way:
    """Where the packets of a datagram go."""

    service: Service
    backend: Backend
    flow_hash: int


Decision = Way | str  # or the name of a drop


def _key(packet: Packet) -> tuple:
    """RFC 791 3.2; RFC 8200 4.5: the protocol that a later fragment names does not count."""
    protocol = packet.protocol if packet.v4 else None
    return packet.source, packet.destination, protocol, packet.part.identification


class Decisions:
    """By datagram. Nothing is ever forgotten for want of room: runs are small for the table."""

    def __init__(self):
        self._made: dict[tuple, tuple[Decision, int]] = {}

    def note(self, first: Packet, decision: Decision, now: int) -> None:
        self._made[_key(first)] = decision, now

    def of(self, later: Packet, now: int) -> Decision | None:
        decision, then = self._made.get(_key(later), (None, 0))
        return decision if now - then <= DECISION_SECONDS else None


@dataclasses.dataclass
class Waiting:
    """A frame that is held."""

    number: int  # among all frames, from 0 on
    frame: bytes
    port: int
    since: int  # milliseconds

    def is_tired(self, now: int) -> bool:
        return now - self.since >= PATIENCE
