#!/usr/bin/env python3
"""A worker that stops beating is named, holds up nobody else, and all is well once it goes on."""

import contextlib
import ctypes
import json
import os
import pathlib
import time
import unittest

from program import SERVICES, LivingDaemonTest

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207  # linux/ptrace.h
WALL = 0x40000000  # __WALL: a thread is waited for like a child of any kind
SILENT = 1  # the worker that is stopped
DONE, DEGRADED, TIMED_OUT = 0, 1, 5  # exit codes
# Always full of packets, all of them dropped: these workers never rest.
DEVICE = "net_null0"


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"ptrace request {request}: {os.strerror(error)}")


@contextlib.contextmanager
def stopped(thread):
    """One thread of another process stands still, as in a debugger; the others go on."""
    ptrace(PTRACE_SEIZE, thread)
    ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        ptrace(PTRACE_DETACH, thread)


class SilentWorker(LivingDaemonTest):
    def setUp(self):
        super().setUp()
        self.services = self.folder / "services.yaml"
        self.services.write_text(SERVICES)
        self.write_host(DEVICE, workers=sorted(os.sched_getaffinity(0))[:2],
                        gateway_mac="02:00:00:00:00:fe")
        self.process = self.start()
        self.expect_log("ready: ")
        self.expect_exit(DONE, "apply", "-f", self.services)
        self.expect_health(DONE)

    def worker_thread(self):
        """Thread id of the silent worker: EAL's lcore 0 is the main thread."""
        name = f"rte-worker-{SILENT + 1}"
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
        return self.fail(f"penstockd has no thread {name}")

    def expect_exit(self, code, *arguments):
        done = self.control(*map(str, arguments))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def expect_health(self, code):
        """`status` ends with this code after some seconds at most; returns what it complains of."""
        deadline = time.monotonic() + 10
        while (done := self.control("status")).returncode != code:
            self.assertLess(time.monotonic(), deadline, done.stdout + done.stderr)
            time.sleep(0.1)
        return done.stderr

    def received(self):
        workers = json.loads(self.expect_exit(DONE, "get", "workers").stdout)["workers"]
        return [int(worker["ports"][0]["received"]) for worker in workers]

    # Its fault asks for answers that need no worker, and for a worker that is stuck to be named.
    def test_C13_a_silent_worker_is_named(self):
        with stopped(self.worker_thread()):
            complaint = self.expect_health(DEGRADED)
            self.assertRegex(complaint, rf"(?m)^degraded: worker {SILENT}: silent for \d+s$")
            self.assertNotIn("worker 0", complaint)
            before = self.received()
            self.services.write_text(SERVICES.replace("10.1.0.11", "10.1.0.12"))
            # Expect: the change is handed over and not acknowledged, and says by whom.
            late = self.expect_exit(TIMED_OUT, "apply", "-f", self.services)
            self.assertIn(f"generation 2 is handed over but not acknowledged: silent worker "
                          f"{SILENT}.", late.stderr)
            # Expect: it held up nobody else.
            after = self.received()
            self.assertGreater(after[0], before[0])
            self.assertEqual(after[SILENT], before[SILENT])
            self.assertIn(f"worker {SILENT}: runs generation 1 instead of 2",
                          self.control("status").stderr)
        # Expect: all is well again, and the same change is heard of.
        self.assertEqual(self.expect_health(DONE), "")
        self.expect_exit(DONE, "apply", "-f", self.services)
        self.assertGreater(self.received()[SILENT], after[SILENT])
        self.process.terminate()
        self.assertEqual(self.process.wait(20), 0, self.log)


if __name__ == "__main__":
    unittest.main()
