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


NOTHING = ("", [])  # comes of a step without a frame


def _frame(step: cases.Step) -> tuple:
    return (step.port, step.headroom, step.flags, step.frame)


def _of_burst(driver: Driver, case: cases.Case):
    """The last outcome of each step of a burst."""
    outcomes = driver.run([_frame(step) for step in case.steps if step.frame is not None])
    for number, outcome in driver.take_released():
        outcomes[number] = outcome
    return [(outcome, []) for outcome in outcomes]


def _outcomes(driver: Driver, case: cases.Case):
    """What came of each step, and of those that were held until it: (step number, outcome)."""
    if case.burst:
        yield from _of_burst(driver, case)
        return
    numbers = []  # of the steps of the frames so far
    for number, step in enumerate(case.steps, 1):
        if step.apply:
            driver.apply(cases.services_file(step.apply))
        if step.wait:
            driver.clock(round(1000 * step.wait))
        if step.buffers is not None:
            driver.ask(f"buffers {step.buffers}")
        outcome = NOTHING
        if step.frame is not None:
            outcome = driver.run([_frame(step)])[0]
            numbers.append(number)
        yield outcome, [(numbers[n], late) for n, late in driver.take_released()]


def _differences(case: cases.Case, step: cases.Step, got, released) -> str:
    def expected(verdict, out, of):
        port = of.port if of.out_port is None else of.out_port
        return verdict, [(port, frame) for frame in out]
    texts = [difference.of_outcomes(expected(step.verdict, step.out, step), got)]
    mine = [r.number for r in step.released]
    theirs = [number for number, _ in released]
    if mine != theirs:
        texts.append(f"    released: expected steps {mine}, got {theirs}")
    for release, (number, outcome) in zip(step.released, released):
        if release.number != number:
            break
        late = expected(release.verdict, release.out, case.steps[number - 1])
        text = difference.of_outcomes(late, outcome)
        texts.append(text and f"    step {number}, released:\n{text}")
    return "\n".join(filter(None, texts))


def run_on_driver(driver: Driver, case: cases.Case) -> list[str]:
    """What is wrong, one text for each step that differs."""
    driver.reset()
    wrong = []
    for number, (step, (got, released)) in enumerate(zip(case.steps, _outcomes(driver, case)), 1):
        text = _differences(case, step, got, released)
        if text:
            frame = "none" if step.frame is None else step.frame.hex()
            wrong.append(f"  step {number}:\n{text}\n    the frame: {frame}")
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
    steps = sum(step.frame is not None for case in chosen for step in case.steps)
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
