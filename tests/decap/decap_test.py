#!/usr/bin/python3
"""Drives penstock-decap on a veth pair: every frame in, the exact bytes out, the exact counters.

usage: decap_test.py PATH_TO_PENSTOCK_DECAP     (needs root)
"""

import ctypes
import json
import os
import platform
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import cases  # noqa: E402
import link as link_module  # noqa: E402

KINDS = ("ipip_4in4", "ipip_6in4", "ipip_4in6", "ipip_6in6", "malformed", "ecn_drop", "passed")
SYS_BPF = {"x86_64": 321, "aarch64": 280}


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


def check_case(checks, link, decap, case, where):
    seen = link.deliver(case.frame)
    grown = decap.growth()
    wanted = [] if case.expected is None else [case.expected]
    checks.expect(f"{where}: {case.sentence}", seen == wanted,
                  f"got {hexdump(seen)}, want {hexdump(wanted)}")
    exact = {kind: (0, 0) for kind in KINDS}
    exact["passed"] = (1, 60)  # the sentinel
    packets, size = exact[case.kind]
    exact[case.kind] = (packets + 1, size + len(case.frame))
    if grown != exact:
        checks.expect(f"{where}: counted as {case.kind}: {case.sentence}", False,
                      f"got {grown}, want {exact}")


def check_packets(checks, link, decap, mode):
    done = decap("attach", "eth0", "--mode", mode)
    checks.expect(f"{mode}: attach exits 0", done.returncode == 0, done.stderr)
    decap.growth()
    expected = dict.fromkeys(KINDS, 0)
    for case in cases.Frames(link.mac, link.peer_mac).all():
        check_case(checks, link, decap, case, mode)
        expected[case.kind] += 1
        expected["passed"] += 1
    packets = {kind: value["packets"] for kind, value in decap.counters().items()}
    checks.expect(f"{mode}: the counters hold every frame under its kind", packets == expected,
                  f"got {packets}, want {expected}")
    check_attached_again(checks, decap, mode, packets)
    other = "generic" if mode == "native" else "native"
    done = decap("attach", "eth0", "--mode", other)
    checks.expect(f"{mode}: attach in {other} mode is refused and says how",
                  done.returncode == 1 and "detach" in done.stderr, done.stderr)
    done = decap("detach", "eth0")
    checks.expect(f"{mode}: detach exits 0", done.returncode == 0, done.stderr)


def check_attached_again(checks, decap, mode, packets):
    done = decap("attach", "eth0")
    again = {kind: value["packets"] for kind, value in decap.counters().items()}
    checks.expect(f"{mode}: attach again replaces and keeps mode and counters",
                  done.returncode == 0 and mode in done.stdout and again == packets, done.stderr)


def check_outer_addresses(checks, link, decap):
    decap("attach", "eth0", "--outer", cases.BACKEND4, "--outer", cases.BACKEND6)
    decap.growth()
    frames = cases.Frames(link.mac, link.peer_mac)
    for case in frames.unwrapped():
        check_case(checks, link, decap, case, "--outer that matches")
    decap("attach", "eth0", "--outer", "192.0.2.1", "2001:db8::1")
    for inner, outer in cases.PAIRS:
        frame = frames.frame(cases.outer(outer, inner) / cases.inner(inner))
        case = cases.Case(f"IPv{inner} in IPv{outer} passes unchanged", frame, frame, "passed")
        check_case(checks, link, decap, case, "--outer that does not match")
    decap("detach", "eth0")


def load_foreign_program():
    """An XDP program that passes everything: r0 = XDP_PASS; exit. Returns its descriptor."""
    code = ctypes.create_string_buffer(bytes.fromhex("b700000002000000" "9500000000000000"))
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = ctypes.create_string_buffer(
        (6).to_bytes(4, "little") + (2).to_bytes(4, "little")
        + ctypes.addressof(code).to_bytes(8, "little")
        + ctypes.addressof(licence).to_bytes(8, "little"), 128)
    descriptor = link_module.libc.syscall(SYS_BPF[platform.machine()], 5, attributes, 128)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "bpf(BPF_PROG_LOAD)")
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as info:
        return next(line.split()[1] for line in info if line.startswith("prog_id"))


def check_foreign_program(checks, link, decap):
    program = load_foreign_program()
    done = link.exec("bpftool", "net", "attach", "xdp", "id", program, "dev", "eth0")
    if done.returncode != 0:
        raise RuntimeError(f"bpftool: {done.stderr}")
    for command in ("attach", "detach", "counters"):
        done = decap(command, "eth0")
        checks.expect(f"{command} refuses a foreign program with one line",
                      done.returncode == 1 and done.stderr.count("\n") == 1
                      and "another XDP program" in done.stderr, done.stderr)
    there = link.exec("ip", "link", "show", "eth0").stdout
    checks.expect("the foreign program is still there", f"id {program} " in there, there)
    link.exec("bpftool", "net", "detach", "xdp", "dev", "eth0")


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
        check_outer_addresses(checks, link, decap)
        check_foreign_program(checks, link, decap)
    print(f"{checks.total - checks.failed} ok, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
