"""Runs packet cases on penstockd: captures in, captures and counters out."""

import collections
import json
import pathlib
import signal
import struct
import subprocess
import tempfile
import time

import yaml

import case_files as cases
import difference

# Echo replies and errors to one client are at most 10 a second: a capture holds no more of them.
MOST_ANSWERS = 8
TIME_LIMIT = 30  # seconds for one capture


def write_pcap(path: pathlib.Path, frames: list[bytes]) -> None:
    """Classic pcap, microseconds, Ethernet."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def read_pcap(path: pathlib.Path) -> list[bytes]:
    data = path.read_bytes()
    frames, at = [], 24
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def is_own_request(frame: bytes) -> bool:
    """ARP request or neighbor solicitation that penstockd sends of its own."""
    if frame[6:11] != b"\x02pcap":
        return False
    at = 16 if frame[12:14] == b"\x81\x00" else 12
    arp = frame[at:at + 2] == b"\x08\x06" and frame[at + 8:at + 10] == b"\0\1"
    solicitation = frame[at:at + 2] == b"\x86\xdd" and frame[at + 8] == 58 and (
        frame[at + 42] == 135)
    return arp or solicitation


class Run:
    """One life of penstockd over one capture for each port."""

    def __init__(self, build: pathlib.Path, host: str, services: str, folder: pathlib.Path):
        self._build, self._folder = build, folder
        config = yaml.safe_load(cases.host_file(host).read_text())
        plane = config["dataplane"]
        self._ports = len(plane["ports"])
        for index, port in enumerate(plane["ports"]):
            port["device"] = (f"net_pcap{index},rx_pcap={self._file(index, 'in')},"
                              f"tx_pcap={self._file(index, 'out')}")
        plane |= {"workers": [0], "memory": {"hugepages": False, "megabytes": 64},
                  "idle_sleep": "1ms"}
        plane["flow_table"] = {"v4_entries_per_worker": 4096, "v6_entries_per_worker": 4096}
        config["control"] = {"listen": [f"unix:{folder}/penstockd.sock"]}
        config["services_file"] = str(cases.services_file(services))
        (folder / "penstockd.yaml").write_text(json.dumps(config))

    def _file(self, port: int, name: str) -> pathlib.Path:
        return self._folder / f"port{port}.{name}.pcap"

    def __call__(self, frames: list[list[bytes]]) -> tuple[dict[str, int], list[list[bytes]]]:
        """`frames`: for each port. Counters by name, and the frames sent by each port."""
        for port in range(self._ports):
            write_pcap(self._file(port, "in"), frames[port])
        log = (self._folder / "log").open("w")
        process = subprocess.Popen(
            [self._build / "bin" / "penstockd", "--config", self._folder / "penstockd.yaml"],
            stderr=log)
        try:
            counters = self._wait(process, sum(map(len, frames)))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(TIME_LIMIT)
            log.close()
        sent = [read_pcap(self._file(port, "out")) for port in range(self._ports)]
        return counters, [[f for f in one if not is_own_request(f)] for one in sent]

    def _wait(self, process, received: int) -> dict[str, int]:
        deadline = time.monotonic() + TIME_LIMIT
        counters = {}
        while time.monotonic() < deadline and process.poll() is None:
            counters = self._counters()
            # Frames that wait for others come out, or their time ends.
            if counters.get("received", -1) >= received and counters.get("held", 0) == 0:
                return counters
            time.sleep(0.05)
        log = (self._folder / "log").read_text()
        raise RuntimeError(f"penstockd did not take {received} frames: {counters}\n{log}")

    def _counters(self) -> dict[str, int]:
        done = subprocess.run(
            [self._build / "bin" / "penstockctl", "--target",
             f"unix:{self._folder}/penstockd.sock", "-o", "json", "counters"],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return {}
        return {one["name"]: int(one["value"]) for one in json.loads(done.stdout)["counters"]
                if not one.get("port") and not one.get("labels")}


def _datagrams(case: cases.Case) -> set[bytes]:
    """What tells the datagrams of a case's fragments from those of others: addresses and id."""
    found = set()
    for frame in (step.frame for step in case.steps if step.frame is not None):
        ip = frame[14:]
        if frame[12:14] == b"\x08\0" and ip[6:8] not in (b"\0\0", b"\x40\0"):
            found.add(ip[12:20] + ip[4:6])
        elif frame[12:14] == b"\x86\xdd" and ip[6:7] == b"\x2c":
            found.add(ip[8:40] + ip[44:48])
    return found


def _batches(group: list[cases.Case]):
    """Cases for one capture each: they must not answer too much, nor disturb each other."""
    batch, answers, datagrams = [], 0, set()
    for case in group:
        mine = sum(step.verdict.startswith("answered_") for step in case.steps)
        shared = datagrams & _datagrams(case)
        if batch and (answers + mine > MOST_ANSWERS or shared):
            yield batch
            batch, answers, datagrams = [], 0, set()
        batch.append(case)
        answers += mine
        datagrams |= _datagrams(case)
    if batch:
        yield batch


def _sent_by(case: cases.Case):
    """(step number, port, frame) of every frame that the case expects."""
    for number, step in enumerate(case.steps, 1):
        ends = [(number, step.out)] + [(r.number, r.out) for r in step.released]
        for origin, frames in ends:
            source = case.steps[origin - 1]
            port = source.port if source.out_port is None else source.out_port
            yield from ((origin, port, frame) for frame in frames)


def _verdicts(case: cases.Case):
    """The last verdict of every frame: what was held is released."""
    for step in case.steps:
        if step.frame is not None and step.verdict != "held":
            yield step.verdict
        yield from (release.verdict for release in step.released)


def _compare_sent(batch, ports, sent) -> list[str]:
    """Frames that are missing or too many, as multisets: bursts may change their order."""
    wrong = []
    left = [collections.Counter(frames) for frames in sent]
    for case in batch:
        for number, port, frame in _sent_by(case):
            if left[port][frame] > 0:
                left[port][frame] -= 1
            else:
                wrong.append((case, number, frame))
    rest = [frame for one in left for frame in one.elements()]
    lines = []
    for case, number, frame in wrong:
        lines.append(f"FAILED {case.place} {case.name}\n  {case.text}\n  step {number}: not sent:")
        near = max(rest, key=lambda f: difference.first_difference(frame, f), default=None)
        lines.append(difference.of_frames(frame, near) if near else f"    {frame.hex()}")
    lines += [f"FAILED: sent and not expected by any case: {frame.hex()}" for frame in rest]
    return lines


def _compare_counters(batch, counters) -> list[str]:
    expected = collections.Counter(verdict for case in batch for verdict in _verdicts(case))
    kinds = ("drop_", "answered_", "learned_", "forwarded", "held")
    got = {name: value for name, value in counters.items() if name.startswith(kinds) and value}
    return [f"FAILED counter {name}: expected {expected[name]}, got {got.get(name, 0)}"
            for name in sorted(expected.keys() | got.keys())
            if expected[name] != got.get(name, 0)]


def _run_batch(build, host, services, batch) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="penstock-packets-") as folder:
        run = Run(build, host, services, pathlib.Path(folder))
        ports = len(yaml.safe_load(cases.host_file(host).read_text())["dataplane"]["ports"])
        frames: list[list[bytes]] = [[] for _ in range(ports)]
        for case in batch:
            for step in case.steps:
                if step.frame is not None:
                    frames[step.port].append(step.frame)
        try:
            counters, sent = run(frames)
        except RuntimeError as error:
            return [f"FAILED: {len(batch)} cases on {host} / {services}: {error}"]
    wrong = _compare_sent(batch, ports, sent) + _compare_counters(batch, counters)
    if wrong:
        places = ", ".join(sorted({case.place for case in batch}))
        wrong.append(f"  (capture of {host} / {services}: {places})")
    return wrong


def end_to_end(build: pathlib.Path, chosen: list[cases.Case]) -> int:
    """Number of captures that came out wrong."""
    skipped = [case for case in chosen if case.driver_only]
    reasons = collections.Counter(case.driver_only for case in skipped)
    by_setup: dict[tuple[str, str], list[cases.Case]] = {}
    for case in chosen:
        if not case.driver_only:
            by_setup.setdefault((case.host, case.services), []).append(case)
    failed = captures = 0
    for (host, services), group in by_setup.items():
        for batch in _batches(group):
            wrong = _run_batch(build, host, services, batch)
            captures += 1
            failed += bool(wrong)
            if wrong:
                print("\n".join(wrong))
    print(f"{len(chosen) - len(skipped)} cases in {captures} captures; {len(skipped)} run on "
          "ForwardBurst only:")
    for reason, count in reasons.most_common():
        print(f"  {count}: {reason}")
    return failed
