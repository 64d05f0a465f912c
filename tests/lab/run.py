#!/usr/bin/python3
"""Runs the lab tests: one lab up, every test_*.py in it, the lab down again whatever happens.

usage: run.py [--build DIR] [--keep] [test names]     (needs root; names without test_ and .py)
"""

import argparse
import importlib
import inspect
import os
import signal
import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from penstock_lab import Lab, LabError, Settings, processes  # noqa: E402


def modules(names):
    there = sorted(path.stem.removeprefix("test_") for path in HERE.glob("test_*.py"))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise LabError(f"no test {', '.join(unknown)}; there are {', '.join(there)}")
    return names or there


def tests(module):
    """In the order of the file: a file reads like a story."""
    functions = [value for name, value in vars(module).items()
                 if name.startswith("test_") and inspect.isfunction(value)]
    return sorted(functions, key=lambda function: function.__code__.co_firstlineno)


def run_one(lab, name, test):
    """Prints the verdict, returns whether it passed. A docstring is the test's sentence."""
    sentence = f"{name}: {inspect.getdoc(test).splitlines()[0]}"
    started = time.monotonic()
    try:
        test(lab)
    except (AssertionError, LabError) as error:
        print(f"FAILED - {sentence}: {error}", flush=True)
        return False
    except Exception:  # a test that breaks is a failed test, and the others still count
        print(f"FAILED - {sentence}:\n{traceback.format_exc()}", flush=True)
        return False
    print(f"ok - {sentence} ({time.monotonic() - started:.1f} s)", flush=True)
    return True


def show_logs(settings):
    for path in sorted(settings.logs.glob("penstockd-*.log")):
        print(f"--- the end of {path}\n{processes.log_tail(settings, path.stem)}")


def run_all(lab, names):
    results = []
    for name in names:
        for test in tests(importlib.import_module(f"test_{name}")):
            results.append(run_one(lab, name, test))
    if not results or not all(results):
        show_logs(lab.settings)
    return results


def end_on_signal(number, _):
    raise SystemExit(128 + number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build")
    parser.add_argument("--keep", action="store_true", help="leave the lab up at the end")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_on_signal)
    if os.geteuid() != 0:
        raise LabError("needs root for network namespaces; run it with sudo")
    names = modules(arguments.names)
    lab = Lab(Settings.from_environment(arguments.build))
    try:
        lab.up()
        results = run_all(lab, names)
    finally:
        if not arguments.keep:
            lab.down()
    print(f"{sum(results)} ok, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        print(f"FAILED - {error}")
        sys.exit(1)
