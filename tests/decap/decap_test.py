#!/usr/bin/python3
"""Drives penstock-decap on a veth pair: every frame in, the exact bytes out, the exact counters.

usage: decap_test.py PATH_TO_PENSTOCK_DECAP     (needs root)
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import cases  # noqa: E402
import gue_cases  # noqa: E402
import link as link_module  # noqa: E402
import packets  # noqa: E402
import programs  # noqa: E402

KINDS = ("ipip_4in4", "ipip_6in4", "ipip_4in6", "ipip_6in6", "malformed", "ecn_drop", "passed",
         "gre_4in4", "gre_6in4", "gre_4in6", "gre_6in6",
         "gue_4in4", "gue_6in4", "gue_4in6", "gue_6in6")
BATCH = 16
JUMBO_MTU = 40000


class Checks:
    """Prints one line per case and remembers whether all went well."""

    def __init__(self):
        self.failed = 0
        self.total = 0

    def expect(self, sentence, good, details=""):
        self.total += 1
        self.failed += not good
        print(f"{'ok' if good else 'FAILED'} - {sentence}{'' if good else ': ' + details}")


class Decap:
    def __init__(self, binary, link):
        self.binary, self.link = binary, link
        self.last = {}

    def __call__(self, *arguments):
        return self.link.exec(self.binary, *arguments)

    def counters(self):
        done = self("counters", "eth0", "-o", "json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)["counters"]

    def growth(self):
        """{kind: (packets, bytes)} counted since the last call."""
        now = {kind: (value["packets"], value["bytes"]) for kind, value in self.counters().items()}
        before, self.last = self.last, now
        return {kind: (now[kind][0] - before.get(kind, (0, 0))[0],
                       now[kind][1] - before.get(kind, (0, 0))[1]) for kind in now}


def hexdump(frames):
    return ", ".join(frame.hex() for frame in frames) or "nothing"


def check_cases(checks, link, decap, all_of_them, where):
    """Returns how many frames were of each kind, as the cases have it."""
    total = dict.fromkeys(KINDS, 0)
    all_of_them = list(all_of_them)
    # Asking for the counters takes ten times as long as a frame: once for a few frames will do.
    for first in range(0, len(all_of_them), BATCH):
        batch = all_of_them[first:first + BATCH]
        exact = {kind: (0, 0) for kind in KINDS}
        for case in batch:
            check_frame(checks, link, case, where)
            sentinel = ("passed", link_module.SENTINEL_BYTES)
            for kind, size in ((case.kind, len(case.frame)), sentinel):
                exact[kind] = (exact[kind][0] + 1, exact[kind][1] + size)
                total[kind] += 1
        grown = decap.growth()
        if grown != exact:
            checks.expect(f"{where}: counted under the right kinds: "
                          + "; ".join(case.sentence for case in batch), False,
                          f"got {grown}, want {exact}")
    return total


def check_frame(checks, link, case, where):
    seen = link.deliver(case.frame)
    wanted = [] if case.expected is None else [case.expected]
    checks.expect(f"{where}: {case.sentence}", seen == wanted,
                  f"got {hexdump(seen)}, want {hexdump(wanted)}")


def check_packets(checks, link, decap, mode):
    done = decap("attach", "eth0", "--mode", mode)
    checks.expect(f"{mode}: attach exits 0", done.returncode == 0, done.stderr)
    decap.growth()
    frames = packets.Frames(link.mac, link.peer_mac)
    expected = check_cases(checks, link, decap, cases.all_cases(frames), mode)
    counted = {kind: value["packets"] for kind, value in decap.counters().items()}
    checks.expect(f"{mode}: the counters hold every frame under its kind", counted == expected,
                  f"got {counted}, want {expected}")
    check_attached_again(checks, decap, mode, counted)
    other = "generic" if mode == "native" else "native"
    done = decap("attach", "eth0", "--mode", other)
    checks.expect(f"{mode}: attach in {other} mode is refused and says how",
                  done.returncode == 1 and "detach" in done.stderr, done.stderr)
    done = decap("detach", "eth0")
    checks.expect(f"{mode}: detach exits 0", done.returncode == 0, done.stderr)


def check_attached_again(checks, decap, mode, counted):
    done = decap("attach", "eth0")
    again = {kind: value["packets"] for kind, value in decap.counters().items()}
    checks.expect(f"{mode}: attach again replaces and keeps mode and counters",
                  done.returncode == 0 and f"counters kept, in {mode}" in done.stdout
                  and again == counted, done.stdout + done.stderr)


def check_outer_addresses(checks, link, decap):
    decap("attach", "eth0", "--outer", packets.BACKEND4, "--outer", packets.BACKEND6)
    decap.growth()
    frames = packets.Frames(link.mac, link.peer_mac)
    some = list(cases.unwrapped(frames)) + list(cases.malformed(frames))
    check_cases(checks, link, decap, some, "--outer that matches")
    decap("attach", "eth0", "--outer", "192.0.2.1", "2001:db8::1")
    elsewhere = [packets.Frames.passed(case.sentence + ", but elsewhere:", case.frame)
                 for case in some]
    check_cases(checks, link, decap, elsewhere, "--outer that does not match")
    decap("detach", "eth0")


def check_jumbo_frames(checks, link, decap):
    """In generic mode only: native XDP on a veth refuses frames beyond a page."""
    decap("attach", "eth0", "--mode", "generic")
    decap.growth()
    link.set_mtu(JUMBO_MTU)
    jumbo = gue_cases.jumbo(packets.Frames(link.mac, link.peer_mac))
    check_cases(checks, link, decap, jumbo, "generic")
    link.set_mtu(link_module.MTU)
    decap("detach", "eth0")


def attach_by_bpftool(link, program):
    done = link.exec("bpftool", "net", "attach", "xdp", "id", program, "dev", "eth0")
    if done.returncode != 0:
        raise RuntimeError(f"bpftool: {done.stderr}")


def check_foreign_program(checks, link, decap):
    program = programs.load_foreign()
    attach_by_bpftool(link, program)
    for command in ("attach", "detach", "counters"):
        done = decap(command, "eth0")
        checks.expect(f"{command} refuses a foreign program with one line",
                      done.returncode == 1 and done.stderr.count("\n") == 1
                      and "another XDP program" in done.stderr, done.stderr)
    there = link.exec("ip", "link", "show", "eth0").stdout
    checks.expect("the foreign program is still there", f"id {program} " in there, there)
    link.exec("bpftool", "net", "detach", "xdp", "dev", "eth0")


def check_other_version(checks, link, decap):
    for kinds in (len(KINDS) - 8, len(KINDS) + 1):
        attach_by_bpftool(link, programs.load_other_version(kinds))
        done = decap("counters", "eth0")
        checks.expect(f"counters of a version with {kinds} kinds are not read past their end",
                      done.returncode == (1 if kinds < len(KINDS) else 0)
                      and (done.returncode == 0 or "another version" in done.stderr), done.stderr)
        done = decap("attach", "eth0")
        checks.expect(f"attach replaces a version with {kinds} kinds and says what of its counters",
                      done.returncode == 0 and "replaced, counters from zero," in done.stdout,
                      done.stdout + done.stderr)
        counted = {kind: value["packets"] for kind, value in decap.counters().items()}
        checks.expect(f"after a version with {kinds} kinds all kinds begin at zero",
                      counted == dict.fromkeys(KINDS, 0), str(counted))
        decap("detach", "eth0")


def check_command_line(checks, decap):
    for arguments in ((), ("attach",), ("attach", "eth0", "--mode", "fast"),
                      ("attach", "eth0", "--outer", "10.0.0"), ("counters", "eth0", "-o", "xml"),
                      ("explode", "eth0")):
        done = decap(*arguments)
        checks.expect(f"usage error exits 2: {' '.join(arguments) or 'no command'}",
                      done.returncode == 2, f"exit {done.returncode}")
    for command in ("attach", "detach", "counters"):
        done = decap(command, "nosuch0")
        checks.expect(f"{command} on a missing interface exits 1 and names it",
                      done.returncode == 1 and "nosuch0: no such interface" in done.stderr,
                      done.stderr)
    done = decap("counters", "eth0")
    checks.expect("counters without a program exits 1 and says what to run",
                  done.returncode == 1 and "penstock-decap attach eth0" in done.stderr, done.stderr)
    done = decap("detach", "eth0")
    checks.expect("detach without a program exits 0", done.returncode == 0, done.stderr)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        print("FAILED - needs root for namespaces and eBPF; run it with sudo", file=sys.stderr)
        return 1
    checks = Checks()
    with link_module.Link() as link:
        decap = Decap(os.path.abspath(sys.argv[1]), link)
        check_command_line(checks, decap)
        for mode in ("native", "generic"):
            check_packets(checks, link, decap, mode)
        check_jumbo_frames(checks, link, decap)
        check_outer_addresses(checks, link, decap)
        check_foreign_program(checks, link, decap)
        check_other_version(checks, link, decap)
    print(f"{checks.total - checks.failed} ok, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
