"""The lab as a whole: up, down, status."""

import os
import shutil

from . import backends, balancers, network, processes
from .settings import BACKENDS, BALANCERS, NAMES, RUN_DIRECTORY, LabError, Settings


class Lab:
    """One lab on this machine. Holds no state: everything is found again by the lab's id."""

    def __init__(self, settings: Settings):
        self.settings = settings

    def up(self, penstock=True, decap=True):
        """Builds the lab, after removing what an earlier run with this id left. Without `penstock`
        the daemons are left out: route the VIPs with network.set_next_hops. When anything fails,
        the rest is taken down again."""
        _need_root()
        self.check_programs(penstock, decap)
        self.down(patience=0)
        try:
            self.settings.pids.mkdir(parents=True)
            self.settings.logs.mkdir()
            network.create(self.settings)
            backends.start(self.settings, decap)
            if penstock:
                balancers.start(self.settings)
                self._check_neighbors()
        except BaseException:
            self.down(patience=0)
            raise

    def down(self, patience=2.0):
        """Removes every trace; safe to call again, and on what is half there."""
        _need_root()
        processes.stop_all(self.settings, patience)
        network.remove(self.settings)
        shutil.rmtree(self.settings.directory, ignore_errors=True)
        try:
            RUN_DIRECTORY.rmdir()  # only when no other lab is there
        except OSError:
            pass

    def check_programs(self, penstock=True, decap=True):
        wanted = ["penstockd", "penstockctl"] if penstock else []
        for program in wanted + (["penstock-decap"] if decap else []):
            self.settings.program(program)

    def traces(self):
        """What is left of the lab, one sentence each; empty after `down`."""
        left = [f"namespace {name}" for name in network.existing_namespaces(self.settings)]
        left += [f"process {pid}" for pid in sorted(processes.ours(self.settings))]
        if self.settings.directory.exists():
            left.append(f"directory {self.settings.directory}")
        return left

    def status(self):
        """Lines for a person; raises LabError when the lab is down."""
        there = network.existing_namespaces(self.settings)
        if len(there) != len(NAMES):
            raise LabError(f"lab {self.settings.id} is down ({len(there)} of {len(NAMES)} "
                           "namespaces); start it with tests/lab/lab up")
        yield f"lab {self.settings.id} in {self.settings.directory}"
        programs = [f"penstockd-{one.name}" for one in BALANCERS]
        programs += [f"nginx-{one.name}" for one in BACKENDS]
        for program in programs:
            running = processes.is_running(self.settings, program)
            yield f"  {program:16} {'running' if running else 'not running'}"

    def _check_neighbors(self):
        missing = network.wait_for_neighbors(self.settings, [one.name for one in BALANCERS])
        if missing:
            raise LabError(f"penstockd answers no ARP or NDP for {', '.join(missing)}")


def _need_root():
    if os.geteuid() != 0:
        raise LabError("the lab needs root for network namespaces; run it with sudo")
