#!/usr/bin/python3
"""Hash and tables as numbers: golden values, every slot of a table, both columns
over time, the spread of outer sources.

usage: vectors.py --build DIR      checks vectors.json
       vectors.py --write          makes it anew, from the model
"""

import argparse
import collections
import json
import pathlib
import random
import struct
import sys
import tempfile

import case_files
import model_hash
import model_past
from driver import Driver
from model_config import packed, read_services
from model_parse import checksum

FILE = pathlib.Path(__file__).with_name("vectors.json")
SERVICES = case_files.services_file("vectors")
SLOTS = 20

# Protocol, source, its port, destination, its port. Docs: HASHING.md.
FLOWS = [(6, "192.0.2.1", 40000, "203.0.113.10", 80), (6, "192.0.2.1", 40001, "203.0.113.10", 80),
         (17, "192.0.2.1", 40000, "203.0.113.10", 80), (17, "198.51.100.7", 53, "203.0.113.53", 53),
         (6, "0.0.0.0", 0, "255.255.255.255", 65535), (1, "192.0.2.1", 0, "203.0.113.10", 0),
         (6, "2001:db8:c::1", 40000, "2001:db8:53::10", 443),
         (17, "2001:db8:c::1", 40000, "2001:db8:53::10", 443),
         (6, "::1", 1, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535),
         (58, "2001:db8:c::1", 0, "2001:db8:53::10", 0)]


def by_model() -> dict:
    seed, services = read_services(SERVICES)
    pool, key = services[0].pool, model_hash.key_from_seed(seed)
    hashes = []
    for protocol, source, sport, destination, dport in FLOWS:
        value = model_hash.flow_hash(packed(source), packed(destination), sport, dport, protocol,
                                     key)
        hashes.append({"protocol": protocol, "source": source, "source_port": sport,
                       "destination": destination, "destination_port": dport,
                       "hash": f"{value:016x}"})
    owners = model_hash.maglev(tuple(b.address for b in pool.backends),
                               tuple(b.weight for b in pool.backends), pool.table_size, key)
    names = [model_hash.text_of(pool.backends[i].address) for i in owners[:SLOTS]]
    return {"seed": seed.decode(), "key": [f"{word:016x}" for word in key], "hashes": hashes,
            "table": {"size": pool.table_size,
                      "weights": {model_hash.text_of(b.address): b.weight for b in pool.backends},
                      "first_slots": names}}


def by_program(build: pathlib.Path, golden: dict) -> dict:
    """`golden` with what the program says in place of its values; the key is not shown."""
    driver = Driver(build, case_files.host_file("plain"), SERVICES)
    said = json.loads(json.dumps(golden))
    for one in said["hashes"]:
        one["hash"] = driver.ask(f"hash {one['protocol']} {one['source']} {one['source_port']} "
                                 f"{one['destination']} {one['destination_port']}")[0]
    said["table"]["first_slots"] = driver.ask(f"table {SLOTS}")[0].split()[1:]
    driver.close()
    return said


def test_P034_golden_vectors(build: pathlib.Path) -> list[str]:
    golden, wrong = json.loads(FILE.read_text()), []
    for name, said in (("model", by_model()), ("program", by_program(build, golden))):
        if said != golden:
            wrong.append(f"the {name} differs from vectors.json:\n{json.dumps(said, indent=1)}")
    return wrong


def test_P031_every_slot(build: pathlib.Path) -> list[str]:
    """A table of 4,999 slots and 40 backends with weights from 1 to 65535."""
    backends = {f"10.{i % 7}.0.{i + 1}" if i % 3 else f"2001:db8:{i:x}::1":
                (1, 100, 100, 250, 65535, 7)[i % 6] for i in range(40)}
    config = {"hash": {"seed": "every slot"},
              "pools": [{"name": "p", "table_size": 4999, "backends": [
                  {"address": a, "weight": w} for a, w in backends.items()]}],
              "services": [{"name": "s", "address": "203.0.113.10", "protocol": "tcp",
                            "ports": [80], "pool": "p"}]}
    with tempfile.TemporaryDirectory(prefix="penstock-vectors-") as folder:
        path = pathlib.Path(folder) / "services.yaml"
        path.write_text(json.dumps(config))
        seed, services = read_services(path)
        pool = services[0].pool
        driver = Driver(build, case_files.host_file("plain"), path)
        got = driver.ask("table 4999")[0].split()[1:]
        driver.close()
    owners = model_hash.maglev(tuple(b.address for b in pool.backends),
                               tuple(b.weight for b in pool.backends), 4999,
                               model_hash.key_from_seed(seed))
    expected = [model_hash.text_of(pool.backends[i].address) for i in owners]
    wrong = [s for s in range(4999) if expected[s] != got[s]] if len(got) == 4999 else [len(got)]
    return [f"{len(wrong)} slots differ, the first is {wrong[0]}"] if wrong else []


def _one_pool(pool: dict[bytes, int], states: dict[bytes, str], size: int, transition: int) -> str:
    backends = [{"address": model_hash.text_of(a), "weight": weight,
                 "state": states.get(a, "active")} for a, weight in pool.items()]
    return json.dumps({
        "hash": {"seed": "over time"},
        "pools": [{"name": "p", "table_size": size, "transition": f"{transition}s",
                   "backends": backends}],
        "services": [{"name": "s", "address": "203.0.113.10", "protocol": "tcp", "ports": [80],
                      "pool": "p"}]})


def _columns_differ(driver: Driver, past: list, states: dict[bytes, str], now: int,
                    transition: int, size: int) -> str:
    """Empty if the program has the columns and the digest that the model has."""
    columns = model_past.both_columns(past, states, now, transition, size,
                                      model_hash.key_from_seed(b"over time"))
    for command, column in zip(("table", "previous"), columns):
        expected = ["-" if a is None else model_hash.text_of(a) for a in column]
        got = driver.ask(f"{command} {size}")[0].split()[1:]
        if got != expected:
            slot = next(i for i in range(size) if got[i] != expected[i])
            return f"{command}, slot {slot}: {got[slot]} instead of {expected[slot]}"
    digest = model_past.digest(past[-1][1], *columns)
    return "" if driver.ask("digest") == [digest] else "the digest differs"


def test_both_columns_over_time(build: pathlib.Path) -> list[str]:
    """Owners, previous owners and digest of a pool of 499 slots, through 50 changes."""
    chance, size, transition = random.Random(11), 499, 60
    addresses = [packed(f"10.1.0.{i}" if i % 2 else f"2001:db8::{i}") for i in range(1, 9)]
    past, now, driver = [], 0, None
    with tempfile.TemporaryDirectory(prefix="penstock-vectors-") as folder:
        for step in range(50):
            pool = {a: chance.choice((0, 50, 100, 300)) for a in addresses if chance.random() < .8}
            pool[addresses[0]] = 100  # somebody takes new flows
            states = {a: chance.choice(("draining", "disabled")) for a in pool
                      if a != addresses[0] and chance.random() < .2}
            path = pathlib.Path(folder) / f"{step}.yaml"
            path.write_text(_one_pool(pool, states, size, transition))
            if driver is None:
                driver = Driver(build, case_files.host_file("plain"), path)
            else:
                driver.apply(path)
            past.append((now, pool))
            # Far enough apart that eras need not be merged.
            for pause in (0, chance.choice((20, 45)), chance.choice((1, 14, 15, 40, 100))):
                driver.clock(1000 * pause)
                now += pause
                wrong = _columns_differ(driver, past, states, now, transition, size)
                if wrong:
                    return [f"step {step}, second {now}: {wrong}"]
    driver.close()
    return []


def test_E09_outer_sources_spread(build: pathlib.Path) -> list[str]:
    """10,000 flows with sources of a /16: at least 90 % of 16 queues used, max/mean at most 1.3."""
    driver = Driver(build, case_files.host_file("plain"), case_files.services_file("sources"))
    queues, sources = collections.Counter(), {}
    for flow in range(10000):
        packet = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0,
                             struct.pack("!I", 0xC0000000 + flow * 7919), packed("203.0.113.10"))
        packet = packet[:10] + struct.pack("!H", checksum(packet)) + packet[12:]
        packet += struct.pack("!HHIIBBHHH", flow, 80, 0, 0, 0x50, 2, 0, 0, 0)
        frame = b"\x02pcap\0" + b"\2\0\0\0\0\x99\x08\0" + packet
        for _ in range(1 + (flow % 100 == 0)):  # some come twice: the source stays
            verdict, sent = driver.run([(0, 128, "-", frame)])[0]
            outer = sent[0][1][26:34] if verdict == "forwarded" else b""
            if sources.setdefault(flow, outer) != outer or not outer:
                return [f"flow {flow}: {verdict}, outer source and destination {outer.hex()}"]
        queues[toeplitz(outer) % 16] += 1
    driver.close()
    share = max(queues.values()) / (10000 / 16)
    print(f"outer sources: {len(queues)} of 16 queues, max/mean {share:.2f}")
    return [] if len(queues) >= 15 and share <= 1.3 else [f"queues: {dict(queues)}"]


# The key that Microsoft's receive side scaling verification suite uses, and most NICs by default.
RSS_KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c"
                        "6a42b73bbeac01fa")


def toeplitz(data: bytes) -> int:
    """The hash of receive side scaling over the bytes given."""
    key, result = int.from_bytes(RSS_KEY, "big"), 0
    for bit in range(8 * len(data)):
        if data[bit // 8] & 0x80 >> bit % 8:
            result ^= key >> 8 * len(RSS_KEY) - 32 - bit & 0xFFFFFFFF
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        FILE.write_text(json.dumps(by_model(), indent=1) + "\n")
        return 0
    wrong = 0
    for test in (test_P034_golden_vectors, test_P031_every_slot, test_both_columns_over_time,
                 test_E09_outer_sources_spread):
        failures = test(options.build)
        wrong += bool(failures)
        print(f"{test.__name__}: " + ("\n".join(failures) or "ok"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
