#!/usr/bin/env python3
"""Workers run on the cores that the configuration lists, in its order, and nobody else is moved."""

import json
import os
import pathlib
import unittest

from program import LivingDaemonTest


class Cores(LivingDaemonTest):
    def expect_workers_on(self, cores):
        self.write_host("net_null0,no-rx=1", workers=cores)
        process = self.start()
        self.expect_log("ready: ")
        workers = json.loads(self.control("get", "workers").stdout)["workers"]
        self.assertEqual([(one["index"], one["core"]) for one in workers], list(enumerate(cores)))
        allowed = {}
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            allowed[(task / "comm").read_text().strip()] = os.sched_getaffinity(int(task.name))
        for index, core in enumerate(cores):
            self.assertEqual(allowed[f"rte-worker-{index + 1}"], {core}, allowed)
        # Expect: the main thread, and those that gRPC has made of it, may run anywhere.
        self.assertEqual(allowed["penstockd"], os.sched_getaffinity(0))
        process.terminate()
        self.assertEqual(process.wait(20), 0, self.log)

    def test_the_last_core_alone(self):
        self.expect_workers_on([max(os.sched_getaffinity(0))])

    def test_cores_in_another_order(self):
        self.expect_workers_on(sorted(os.sched_getaffinity(0))[:2][::-1])


if __name__ == "__main__":
    unittest.main()
