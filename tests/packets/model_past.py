"""The previous owners and the digest of docs/HASHING.md, in Python.

A past is a list of (second, {address: weight}), oldest first; the last entry is the present.
"""

import model_hash


def owners_of(pool: dict[bytes, int], size: int, key) -> list:
    """The owner of each slot by configuration, as an address; None: nobody."""
    addresses = canonical(pool)
    table = model_hash.maglev(tuple(addresses), tuple(pool[a] for a in addresses), size, key)
    return [None if owner is None else addresses[owner] for owner in table]


def canonical(addresses) -> list[bytes]:
    return sorted(addresses, key=lambda a: (len(a), a))


def tenures(past: list, tables: list[list], slot: int, now: int) -> list[tuple]:
    """Unbroken times in which one backend held the slot, as (owner, begin, end), oldest first. The
    last is the present one."""
    found = []
    for i in reversed(range(len(past))):
        begin, end = past[i][0], past[i + 1][0] if i + 1 < len(past) else now
        owner = tables[i][slot]
        if owner is not None and any(owner not in pool for _, pool in past[i:]):
            owner = found[-1][0]  # gone, or was away: the time is its successor's
        if found and (begin == end or owner == found[-1][0]):
            if begin < end:
                found[-1] = (owner, begin, found[-1][2])
        else:
            found.append((owner, begin, end))
    return found[::-1]


def long_time_owner(held: list[tuple], birth: int, now: int, transition: int):
    """Who held a slot before a change, and may be its previous owner; None: nobody."""
    owner, begin, end = held[-1]
    present = 0 if owner is None else end - begin
    somebody = [t for t in held[:-1] if t[0] is not None]
    long = [t for t in somebody if t[2] - t[1] >= transition]
    if present >= transition:
        return None
    if long:
        chosen = long[-1]
    else:
        open_ones = [t for t in somebody if now - t[2] < transition]
        if now - birth >= 2 * transition or not open_ones:
            return None
        chosen = max(reversed(open_ones), key=lambda t: t[2] - t[1])
        if chosen[2] - chosen[1] <= present:
            return None
    lost_long_ago = now - chosen[2] >= transition
    return None if lost_long_ago or chosen[0] == owner else chosen[0]


def both_columns(past: list, states: dict[bytes, str], now: int, transition: int, size: int,
                 key) -> tuple[list, list]:
    """Current and previous owner of each slot. REQUIRES: somebody takes new flows, and stand-ins
    are found among the 64."""
    tables = [owners_of(pool, size, key) for _, pool in past]
    addresses = canonical(past[-1][1])
    indices = [None if o is None else addresses.index(o) for o in tables[-1]]
    usable = {i for i, a in enumerate(addresses)
              if past[-1][1][a] > 0 and states.get(a, "active") == "active"}
    current, previous = [], []
    for slot, owner in enumerate(tables[-1]):
        takes = indices[slot]
        if takes is not None and takes not in usable:
            takes = model_hash.stand_in(slot, indices, usable, key)
        takes = None if takes is None else addresses[takes]
        before = long_time_owner(tenures(past, tables, slot, now), past[0][0], now, transition)
        chosen = None
        for candidate in (owner, before):
            if (chosen is None and candidate not in (None, takes) and
                    states.get(candidate, "active") != "disabled"):
                chosen = candidate
        current.append(takes)
        previous.append(chosen)
    return current, previous


def digest(pool: dict[bytes, int], current: list, previous: list) -> str:
    addresses = canonical(pool)
    key = model_hash.key_from_seed(b"digest")
    words = []
    for address in addresses:
        words += [0 if len(address) == 4 else 1, model_hash.hash_bytes(address, pool[address], key)]
    number = {address: i for i, address in enumerate(addresses)} | {None: 0xFFFF}
    words += [number[c] << 16 | number[p] for c, p in zip(current, previous)]
    value = len(current)
    for word in words:
        value = model_hash.mix(value ^ 0x9E3779B97F4A7C15, word ^ 0xD1B54A32D192ED03)
        value = (value + 0x8BB84B93962EACC9) & model_hash.MASK
    return f"{value:016x}"
