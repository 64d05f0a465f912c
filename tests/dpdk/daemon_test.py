#!/usr/bin/env python3
"""penstockd as a program: what --check says, and a life from start to SIGTERM."""

import json
import signal
import unittest

from program import SERVICES, DaemonTest, LivingDaemonTest


class CommandLine(DaemonTest):
    def test_version_and_help(self):
        version = self.run_penstockd("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"^penstockd \d+\.\d+\.\d+\n$")
        usage = self.run_penstockd("--help")
        self.assertEqual(usage.returncode, 0)
        self.assertIn("Example", usage.stdout)

    def test_unknown_option(self):
        self.assertEqual(self.run_penstockd("--nope").returncode, 2)

    def check(self):
        return self.run_penstockd("--config", str(self.config), "--check")

    def test_check_of_a_good_configuration_touches_no_device(self):
        services = self.folder / "services.yaml"
        services.write_text(SERVICES)
        self.write_host("net_nope0", workers=[1000], services_file=services)
        done = self.check()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "configuration ok\n", ""))

    def test_check_names_every_mistake_of_the_host_file(self):
        self.config.write_text("dataplane:\n  worker: [2]\n  ports: []\n")
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertGreaterEqual(len(done.stderr.splitlines()), 2, done.stderr)
        self.assertIn(f"{self.config}:2:", done.stderr)

    def test_check_of_a_missing_file(self):
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertIn(str(self.config), done.stderr)

    def test_check_names_mistakes_of_the_services_file(self):
        services = self.folder / "services.yaml"
        services.write_text(SERVICES.replace("pool: web,", "pool: wbe,"))
        self.write_host("net_null0", services_file=services)
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{services}:6:", done.stderr)

    def test_check_names_what_this_host_cannot_carry(self):
        services = self.folder / "services.yaml"
        services.write_text(SERVICES.replace("10.1.0.11", '"2001:db8:9::13"'))
        self.write_host("net_null0", services_file=services)
        done = self.check()
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{services}:4:", done.stderr)


class Life(LivingDaemonTest):
    def test_services_file_hangup_and_end(self):
        services = self.folder / "services.yaml"
        services.write_text(SERVICES)
        self.write_host("net_null0", services_file=services)
        process = self.start()
        self.expect_log("ready: ")
        self.expect_log("generation 1")
        # Expect: every mistake logged, and the daemon lives on with what it has.
        services.write_text(SERVICES.replace("pool: web,", "pool: wbe,").replace("101", "100"))
        process.send_signal(signal.SIGHUP)
        self.expect_log("nothing has changed")
        self.assertEqual(sum(f"{services}:" in line for line in self.log), 2, self.log)
        # Expect: a good file makes the next generation.
        services.write_text(SERVICES.replace("10.1.0.11", "10.1.0.12"))
        process.send_signal(signal.SIGHUP)
        self.expect_log("applied, generation 2")
        self.assertTrue((self.folder / "penstockd.sock").is_socket())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0, self.log)
        self.expect_log("stopped")
        self.assertFalse(any("EAL" in line for line in self.log), self.log)

    def test_services_file_and_apply_do_not_mix(self):
        services = self.folder / "services.yaml"
        services.write_text(SERVICES)
        self.write_host("net_null0", services_file=services)
        process = self.start()
        self.expect_log("ready: ")
        refused = self.control("apply", "-f", str(services))
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn(f"takes its services from {services}", refused.stderr)
        # Expect: a drain is no matter of the file, and its next reading leaves it alone.
        drained = self.control("backend", "drain", "web", "10.1.0.11", "--force")
        self.assertEqual(drained.returncode, 0, drained.stderr)
        services.write_text(SERVICES.replace("10.1.0.11}", "10.1.0.11}, {address: 10.1.0.12}"))
        process.send_signal(signal.SIGHUP)
        self.expect_log("applied, generation 3")
        listed = json.loads(self.control("get", "backends").stdout)["backends"]
        self.assertEqual([(one["address"], one["adminState"]) for one in listed],
                         [("10.1.0.11", "ADMIN_STATE_DRAINING"),
                          ("10.1.0.12", "ADMIN_STATE_ACTIVE")])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 0, self.log)

    def test_interrupt_ends_it_without_services(self):
        self.write_host("net_null0")
        process = self.start()
        self.expect_log("ready: ")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0, self.log)


if __name__ == "__main__":
    unittest.main()
