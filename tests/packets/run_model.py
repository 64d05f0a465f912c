#!/usr/bin/python3
"""Compares the packet path with the independent model on random packets, byte for byte.

usage: run_model.py --build DIR [--seed N] [--count N] [--objects]

Without --seed: 5,000 packets of a fixed seed and 5,000 of a fresh one, which is printed. One packet
a second, fragments of a datagram faster, so that rates of ICMP do not matter. With --objects: has packet_driver break one rule
after the other in what it sends, and expects that the model notices each.
"""

import argparse
import collections
import pathlib
import random
import subprocess
import sys
import time

import case_files
import difference
import words
from driver import Driver
from model import Model
from model_config import packed
from random_packets import Generator

HOST, SERVICES = case_files.host_file("rich"), case_files.services_file("rich")
FIXED_SEED = 20261130
START = 1_000_000  # milliseconds at which packet_driver's clock begins
COUNT = 5000
MOST_FOR_OBJECTION = 600  # packets within which a broken rule has to show
REPORTED = 5  # differences that are shown in full
NOTHING = ("held on", [])  # of a packet that is not released

L2 = {"192.168.7.21": "02:00:00:00:07:21", "192.168.7.22": "02:00:00:00:07:22",
      "2001:db8:7::21": "02:00:00:00:07:23"}


def _announcements() -> list[bytes]:
    """What makes the MAC addresses of the l2 backends known."""
    frames = []
    for address, mac in L2.items():
        link = words.Ether(dst=words.PORT1_MAC, src=mac)
        if ":" in address:
            frames.append(link / words.IPv6(src=address, dst="2001:db8:7::11", hlim=255) /
                          words.ICMPv6ND_NA(R=0, S=1, O=1, tgt=address) /
                          words.ICMPv6NDOptDstLLAddr(lladdr=mac))
        else:
            frames.append(link / words.ARP(op=2, hwsrc=mac, psrc=address, hwdst=words.PORT1_MAC,
                                           pdst="192.168.7.11"))
    return [words.raw(frame) for frame in frames]


def predictions(seed: int, count: int):
    """(milliseconds before it, port, frame, outcome, what else came out) of each packet, by the
    model. What comes out had been held: (number of the packet, outcome) each."""
    model, generator = Model(HOST, SERVICES), Generator(seed)
    model.neighbors = {packed(a): bytes.fromhex(m.replace(":", "")) for a, m in L2.items()}
    now = START
    for _ in range(count):
        pause, port, frame = generator.frame()
        now += pause
        model.elapse(now)
        outcome = model.predict(frame, port, now)
        released, model.released = model.released, []
        yield pause, port, frame, outcome, released


def differences(driver: Driver, expected):
    """(number, port, frame, expected outcome, outcome) of each packet that comes out otherwise, now
    or when it is released."""
    driver.reset()
    for frame in _announcements():
        outcome = driver.run([(1, 128, "-", frame)])[0]
        if outcome != ("learned_neighbor", []):
            raise RuntimeError(f"the l2 backends cannot be announced: {outcome}")
    for number, (pause, port, frame, outcome, released) in enumerate(expected):
        driver.clock(pause)
        got = driver.run([(port, 128, "-", frame)])[0]
        if got != outcome:
            yield number, port, frame, outcome, got
        before = len(L2)  # frames that came before the first packet
        theirs = [(late - before, end) for late, end in driver.take_released()]
        for late in sorted({n for n, _ in released + theirs}):
            mine, other = dict(released).get(late, NOTHING), dict(theirs).get(late, NOTHING)
            if mine != other:
                yield late, expected[late][1], expected[late][2], mine, other
        if [n for n, _ in released] != [n for n, _ in theirs]:
            yield number, port, frame, ("the order of what is released", []), ("another", [])


def _show(number: int, port: int, frame: bytes, expected, got) -> str:
    return (f"packet {number}, port {port}: {frame.hex()}\n"
            f"    model: {expected[0]}\n    got:   {got[0]}\n" +
            difference.of_outcomes(expected, got))


def compare(build: pathlib.Path, seed: int, count: int) -> int:
    """Number of packets about which the two differ."""
    verdicts: collections.Counter = collections.Counter()
    expected = list(predictions(seed, count))
    for _, _, _, outcome, released in expected:
        verdicts[outcome[0]] += 1
        verdicts.update(f"held, then {end[0]}" for _, end in released)
    driver = Driver(build, HOST, SERVICES)
    wrong, kinds = 0, collections.Counter()
    for one in differences(driver, expected):
        wrong += 1
        kinds[(one[3][0], one[4][0])] += 1
        if kinds[(one[3][0], one[4][0])] == 1 and len(kinds) <= REPORTED:
            print("DIFFERS: " + _show(*one))
    driver.close()
    print(f"seed {seed}: {count} packets, {wrong} differ;", ", ".join(
        f"{name} {n}" for name, n in sorted(verdicts.items())))
    for (mine, other), n in kinds.most_common():
        print(f"  {n} x model {mine}, got {other}")
    return wrong


def objections(build: pathlib.Path) -> int:
    """Number of rules whose breaking goes unnoticed."""
    rules = subprocess.run([build / "bin" / "packet_driver", "--rules"], capture_output=True,
                           text=True, check=True).stdout.split()
    expected = list(predictions(FIXED_SEED, MOST_FOR_OBJECTION))
    driver = Driver(build, HOST, SERVICES)
    known = {one[0] for one in differences(driver, expected)}  # told by the other mode
    driver.close()
    unnoticed = 0
    for rule in rules:
        driver = Driver(build, HOST, SERVICES, tamper=rule)
        first = next((one for one in differences(driver, expected) if one[0] not in known), None)
        driver.close()
        unnoticed += first is None
        print(f"{rule}: " + (f"noticed at packet {first[0]}" if first else "NOT NOTICED"))
    print(f"{len(rules)} rules, {unnoticed} not noticed")
    return unnoticed if rules else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--objects", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    if options.objects:
        wrong = objections(options.build)
    else:
        fresh = random.SystemRandom().randrange(1 << 32)
        seeds = [FIXED_SEED, fresh] if options.seed is None else [options.seed]
        wrong = sum(compare(options.build, seed, options.count) for seed in seeds)
    print(f"{time.monotonic() - started:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
