#!/usr/bin/python3
"""Runs penstockd in an emulated machine of the lab and tests it there, one guest for all tests.

usage: run.py [--build DIR] [--cache DIR] [test names]     (needs root; names without test_ and .py)
"""

import argparse
import importlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE)]

from penstock_lab import Lab, LabError, Settings, backends  # noqa: E402
import run as lab_runner  # noqa: E402  the lab's; this file is __main__
from penstock_guest import Guest, daemon, image, kernel  # noqa: E402

UPLOAD_BYTES = 5_000_000  # an emulated processor forwards them in a second or two


def check_programs():
    needs = {"qemu-system-x86_64": "qemu-system-x86", "cpio": "cpio", "strip": "binutils"}
    missing = [package for program, package in needs.items() if shutil.which(program) is None]
    if missing:
        raise LabError("emulated NICs cannot be tested without "
                       f"{', '.join(missing)}; run tests/install_packages.sh")


def start_guest(lab, cache):
    started = time.monotonic()
    unpacked = kernel.fetch(cache)
    initramfs = image.build(lab.settings, lab.settings.directory / "guest", unpacked,
                            daemon.files())
    built = time.monotonic()
    guest = Guest(lab.settings)
    guest.start(unpacked, initramfs)
    print(f"guest: {unpacked.image.name}, image in {built - started:.1f} s, "
          f"up in {time.monotonic() - built:.1f} s", flush=True)
    return guest


def run_all(guest, names):
    results = []
    for name in names or ["e1000e", "virtio"]:
        for test in lab_runner.tests(importlib.import_module(f"test_{name}")):
            results.append(lab_runner.run_one(guest, name, test))
    if not results or not all(results):
        print(f"{guest.logs()}\n--- penstockd in the guest\n{daemon.log(guest)}", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build")
    parser.add_argument("--cache", default=str(HERE.parents[1] / "build/qemu"))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lab_runner.end_on_signal)
    if os.geteuid() != 0:
        raise LabError("needs root for network namespaces; run it with sudo")
    check_programs()
    lab = Lab(Settings.from_environment(arguments.build))
    try:
        lab.up(penstock=False)
        backends.shared_file(lab.settings, "five").write_bytes(os.urandom(UPLOAD_BYTES))
        results = run_all(start_guest(lab, arguments.cache), arguments.names)
    finally:
        lab.down()
    print(f"{sum(results)} ok, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        print(f"FAILED - {error}")
        sys.exit(1)
