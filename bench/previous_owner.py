#!/usr/bin/env python3
"""Which backend a packet in mid-stream should go to when its host does not know the flow.

Simulates one slot that changes hands, and flows that began in it and come to another host at a
random moment until 400 s after the last change. Prints the share of flows that each rule sends to
another backend than the one they began at, in per cent.

usage: previous_owner.py        no arguments; some seconds
"""

import random

TRANSITION = 300.0
LONG_AGO = -1e6
FLOWS = 30000
LIVES = (30, 120, 600, 3600, 20000)  # mean seconds that flows live


def tenures(changes, now):
    """(owner, begin, end), oldest first."""
    found = []
    for i, (owner, begin) in enumerate(changes):
        if begin > now:
            break
        end = min(changes[i + 1][1] if i + 1 < len(changes) else now, now)
        if found and found[-1][0] == owner:
            begin = found.pop()[1]
        found.append((owner, begin, end))
    return found


def length(tenure):
    return tenure[2] - tenure[1]


def table_alone(held, now):
    return held[-1][0]


def last_other(held, now):
    return held[-2][0] if len(held) > 1 and now - held[-2][2] < TRANSITION else held[-1][0]


def long_time(held, now):
    """The last one that held the slot for a transition, for a transition."""
    for tenure in reversed(held[:-1]):
        if now - tenure[2] >= TRANSITION:
            break
        if length(tenure) >= TRANSITION:
            return tenure[0]
    return held[-1][0]


def penstock(held, now):
    """The same, and the longest tenure in a pool younger than two transitions without such."""
    if now - held[0][1] >= 2 * TRANSITION or any(length(t) >= TRANSITION for t in held):
        return long_time(held, now)
    open_ones = [t for t in held if now - t[2] < TRANSITION]
    return max(reversed(open_ones), key=length)[0]


RULES = (table_alone, last_other, long_time, penstock)


def rolling(chance, birth, first, mean):
    changes, at = [("A", birth)], first
    for _ in range(chance.randint(2, 6)):
        changes.append((chance.choice("ABCDEF"), at))
        at += chance.expovariate(1 / mean)
    return changes


HISTORIES = {
    "one change": lambda c: [("A", LONG_AGO), ("B", 0)],
    "two within a transition": lambda c: [("A", LONG_AGO), ("B", 0), ("C", c.uniform(5, 300))],
    "there and back": lambda c: [("A", LONG_AGO), ("B", 0), ("A", c.uniform(5, 300))],
    "rolling, one a minute": lambda c: rolling(c, LONG_AGO, 0, 60),
    "young pool, one change": lambda c: [("A", 0), ("B", c.uniform(5, 300))],
    "young pool, rolling": lambda c: rolling(c, 0, c.uniform(5, 100), 80),
}


def wrong_shares(make, life):
    chance, wrong, flows = random.Random(1), dict.fromkeys(RULES, 0), 0
    while flows < FLOWS:
        changes = make(chance)
        now = chance.uniform(changes[1][1], changes[-1][1] + 400)
        began = now - chance.expovariate(1 / life)
        if began < changes[0][1]:
            continue
        flows += 1
        owner = [o for o, begin in changes if begin <= began][-1]
        held = tenures(changes, now)
        for rule in RULES:
            wrong[rule] += rule(held, now) != owner
    return [100 * wrong[rule] / flows for rule in RULES]


def main():
    print(f"{'':26}{'mean life':>10}" + "".join(f"{rule.__name__:>13}" for rule in RULES))
    for name, make in HISTORIES.items():
        for life in LIVES:
            shares = "".join(f"{share:13.1f}" for share in wrong_shares(make, life))
            print(f"{name:26}{life:9}s{shares}")


if __name__ == "__main__":
    main()
