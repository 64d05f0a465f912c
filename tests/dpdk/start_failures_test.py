#!/usr/bin/env python3
"""A start that fails says why in one line and what helps in another, and DPDK is not heard."""

import os
import pathlib
import unittest

from program import DaemonTest


class StartFailures(DaemonTest):
    def expect_failure(self, cause, fix, **options):
        """Exit code 1 and exactly two lines, which hold `cause` and `fix`."""
        done = self.run_penstockd("--config", str(self.config), **options)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("EAL", done.stderr + done.stdout)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertTrue(lines[0].startswith("penstockd: cannot start: "), lines[0])
        self.assertTrue(lines[1].startswith("penstockd: fix: "), lines[1])
        self.assertIn(cause, lines[0])
        self.assertIn(fix, lines[1])

    def test_hugepages_missing(self):
        self.write_host("net_null0", memory={"hugepages": True, "megabytes": 1048576})
        self.expect_failure("wants 1048576 MB of hugepages and ", "sysctl -w vm.nr_hugepages=524288")

    def test_more_ordinary_memory_than_there_is(self):
        self.write_host("net_null0", memory={"hugepages": False, "megabytes": 1048576})
        self.expect_failure("wants 1048576 MB and ", "a smaller dataplane.memory.megabytes")

    def test_virtual_device_of_unknown_driver(self):
        self.write_host("net_nope0,iface=lo")
        self.expect_failure('port uplink: no driver knows device "net_nope0,iface=lo"', "PCI address")

    def test_pci_device_missing(self):
        self.write_host("ffff:ff:1f.7")
        self.expect_failure("port uplink: there is no PCI device ffff:ff:1f.7", "dpdk-devbind.py")

    def test_pci_device_with_a_kernel_driver(self):
        devices = [
            path.name
            for path in sorted(pathlib.Path("/sys/bus/pci/devices").iterdir())
            if not (path / "driver").exists() or "vfio" not in os.readlink(path / "driver")
        ]
        if not devices:
            self.skipTest("this host has no PCI device")
        self.write_host(devices[0])
        self.expect_failure(f"PCI device {devices[0]} is bound to ", "--bind=vfio-pci")

    def test_interface_of_af_packet_missing(self):
        self.write_host("net_af_packet0,iface=nosuch0")
        self.expect_failure("there is no network interface nosuch0", "namespace")

    def test_interface_of_af_xdp_missing(self):
        self.write_host("net_af_xdp0,iface=nosuch0")
        self.expect_failure("there is no network interface nosuch0", "namespace")

    def test_driver_that_does_not_open_its_device(self):
        self.write_host(f"net_pcap0,rx_pcap={self.folder}/none.pcap,tx_pcap={self.folder}/out.pcap")
        self.expect_failure("No such file or directory", "correct the port's device")

    def test_D03_core_that_is_not_there(self):
        self.write_host("net_null0", workers=[1000])
        self.expect_failure("worker core 1000 is not there: this host has cores 0", "cores 0")

    def test_D03_more_workers_than_cores(self):
        there = os.cpu_count()
        self.write_host("net_null0", workers=range(there + 6))
        self.expect_failure(f"worker core {there} is not there", "choose dataplane.workers among")

    def test_D03_core_named_twice(self):
        self.write_host("net_null0", workers=[0, 0])
        done = self.run_penstockd("--config", str(self.config))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("dataplane.workers[1]: is the same as dataplane.workers[0]", done.stderr)

    def test_D03_core_outside_the_affinity(self):
        first, second, *_ = sorted(os.sched_getaffinity(0))
        self.write_host("net_null0", workers=[second])
        self.expect_failure(
            f"worker core {second} is offline or not open to this process, "
            f"which may run on cores {first}",
            "taskset",
            preexec_fn=lambda: os.sched_setaffinity(0, {first}),
        )

    def test_D03_more_workers_than_queues_of_af_packet(self):
        self.write_host("net_af_packet0,iface=lo", workers=sorted(os.sched_getaffinity(0))[:2])
        self.expect_failure(
            "2 workers need 2 queues and port uplink (net_af_packet) has 1 for receiving and 1 for",
            "at most 1 core in dataplane.workers, or qpairs=2 in its device",
        )

    def test_D03_more_queues_than_workers_of_af_packet(self):
        # Expect: refused, as every second packet would be lost where no counter sees it.
        self.write_host("net_af_packet0,iface=lo,qpairs=2")
        self.expect_failure(
            "port uplink (net_af_packet) receives on 2 queues and dataplane.workers reads 1",
            "2 cores in dataplane.workers, or fewer queues in the device",
        )

    def test_flow_tables_larger_than_the_memory(self):
        self.write_host("net_null0", flow_entries=1 << 24)
        self.expect_failure("the flow tables of worker 0 need 385 MB and ", "(now 64)")


if __name__ == "__main__":
    unittest.main()
