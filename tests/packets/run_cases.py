#!/usr/bin/python3
"""Runs the packet cases of cases/*.txt, byte for byte.

usage: run_cases.py --build DIR [--end-to-end] [--only TEXT] [--list]

Without --end-to-end: on ForwardBurst, through packet_driver, each case on a host of its own. With
it: on penstockd with a net_pcap device, many cases in one capture.
"""

import argparse
import pathlib
import sys
import time

import case_files as cases
import daemon
import difference
from driver import Driver


def _outcomes(driver: Driver, case: cases.Case):
    """What came of each step."""
    frames = [(step.port, step.headroom, step.flags, step.frame) for step in case.steps]
    if case.burst:
        yield from driver.run(frames)
        return
    for step, frame in zip(case.steps, frames):
        if step.wait:
            driver.clock(step.wait)
        if step.apply:
            driver.apply(cases.services_file(step.apply))
        if step.buffers is not None:
            driver.ask(f"buffers {step.buffers}")
        yield driver.run([frame])[0]


def run_on_driver(driver: Driver, case: cases.Case) -> list[str]:
    """What is wrong, one text for each step that differs."""
    driver.reset()
    wrong = []
    for number, (step, got) in enumerate(zip(case.steps, _outcomes(driver, case)), 1):
        port = step.port if step.out_port is None else step.out_port
        expected = (step.verdict, [(port, frame) for frame in step.out])
        text = difference.of_outcomes(expected, got)
        if text:
            wrong.append(f"  step {number}:\n{text}\n    the frame: {step.frame.hex()}")
    return wrong


def _run_group(build: pathlib.Path, host: str, services: str, group: list[cases.Case]) -> int:
    """Number of cases that failed; all of one set-up."""
    driver, failed = None, 0
    for case in group:
        if driver is None:
            driver = Driver(build, cases.host_file(host), cases.services_file(services))
        wrong = run_on_driver(driver, case)
        failed += bool(wrong)
        if wrong:
            print(f"FAILED {case.place} {case.name}\n  {case.text}\n" + "\n".join(wrong))
        if any(step.apply for step in case.steps):
            driver.close()  # states of backends outlive the services: start anew
            driver = None
    if driver:
        driver.close()
    return failed


def on_driver(build: pathlib.Path, chosen: list[cases.Case]) -> int:
    """Number of cases that failed."""
    failed = 0
    by_setup: dict[tuple[str, str], list[cases.Case]] = {}
    for case in chosen:
        by_setup.setdefault((case.host, case.services), []).append(case)
    for (host, services), group in by_setup.items():
        try:
            failed += _run_group(build, host, services, group)
        except (RuntimeError, BrokenPipeError) as error:
            print(f"FAILED: {len(group)} cases on {host} / {services}: {error}")
            failed += len(group)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--end-to-end", action="store_true")
    parser.add_argument("--only", default="", help="part of a case's name or file")
    parser.add_argument("--list", action="store_true", help="names the cases, runs nothing")
    options = parser.parse_args()
    chosen = cases.all_cases(options.only)
    steps = sum(len(case.steps) for case in chosen)
    described = len({case.place for case in chosen})
    if options.list:
        for case in chosen:
            print(f"{case.place} {case.name}")
    print(f"{described} described cases, {len(chosen)} with each value, {steps} frames")
    if options.list:
        return 0
    if not chosen:
        print("FAILED: no case is called so")
        return 1
    started = time.monotonic()
    if options.end_to_end:
        failed = daemon.end_to_end(options.build, chosen)
    else:
        failed = on_driver(options.build, chosen)
    print(f"{failed} failed, {time.monotonic() - started:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
