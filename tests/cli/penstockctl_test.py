#!/usr/bin/env python3
"""penstockctl against fake daemons: exit codes and what is printed.

usage: penstockctl_test.py PENSTOCKCTL FAKE_DAEMON
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

PENSTOCKCTL, FAKE_DAEMON = sys.argv[1:3]

SERVICES = """\
hash: {seed: "s"}
pools:
  - name: web
    table_size: 1009
    backends:
      - {address: 10.1.0.11, name: web1}
      - {address: 10.1.0.12, name: web2}
services:
  - {name: web, address: 203.0.113.10, protocol: tcp, ports: [80], pool: web}
"""


class Case(unittest.TestCase):
    def setUp(self):
        self._stack = contextlib.ExitStack()
        self.addCleanup(self._stack.close)
        self.directory = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.file = self.directory / "services.yaml"
        self.file.write_text(SERVICES, encoding="ascii")

    def daemon(self, name="d", *arguments):
        path = self.directory / f"{name}.sock"
        process = self._stack.enter_context(subprocess.Popen(
            [FAKE_DAEMON, path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True))
        self._stack.callback(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return f"unix:{path}"

    def run_ctl(self, *arguments, code=0, stdin=None):
        done = subprocess.run([PENSTOCKCTL, *map(str, arguments)], capture_output=True, text=True,
                              input=stdin, timeout=60, check=False)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done

    def json(self, target, *arguments, code=0):
        done = self.run_ctl("--target", target, "-o", "json", *arguments, code=code)
        return json.loads(done.stdout)

    def applied(self):
        target = self.daemon()
        self.run_ctl("--target", target, "apply", "-f", self.file)
        return target


class Usage(Case):
    def test_help_has_examples(self):
        for command in ((), ("status",), ("apply",), ("validate",), ("get",), ("get", "pools"),
                        ("backend", "drain"), ("backend", "undrain"), ("counters",), ("drops",)):
            self.assertIn("Example:", self.run_ctl(*command, "--help").stdout)

    def test_version(self):
        self.assertRegex(self.run_ctl("--version").stdout, r"^penstockctl \d+\.\d+\.\d+\n$")

    def test_bad_usage_is_2(self):
        for arguments in ((), ("nonsense",), ("status", "--nonsense"), ("apply",),
                          ("-o", "xml", "status"), ("--timeout", "soon", "status"),
                          ("--timeout", "0s", "status"), ("--target", "10.0.0.1:7443", "status"),
                          ("get",), ("get", "everything"), ("get", "config", "x"),
                          ("backend", "drain", "web")):
            self.assertTrue(self.run_ctl(*arguments, code=2).stderr)

    def test_unreachable_is_4(self):
        done = self.run_ctl("--target", f"unix:{self.directory}/nobody.sock", "status", code=4)
        self.assertIn("cannot reach penstockd at unix:", done.stderr)
        self.assertIn("is it running?", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_silence_is_5(self):
        path = self.directory / "mute.sock"
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(path))
            mute.listen()
            done = self.run_ctl("--target", f"unix:{path}", "--timeout", "300ms", "status", code=5)
        self.assertIn("within 300ms", done.stderr)


class Files(Case):
    def test_validate(self):
        done = self.run_ctl("validate", "-f", self.file)
        self.assertEqual(done.stdout, "valid: 1 services, 1 pools, 2 backends\n")
        self.assertEqual(self.run_ctl("validate", "-f", "-", stdin=SERVICES).returncode, 0)

    def test_every_mistake_with_its_place_is_3(self):
        self.file.write_text(SERVICES.replace("1009", "1000").replace("pool: web", "pool: wob"),
                             encoding="ascii")
        for command in ("validate", "apply"):
            done = self.run_ctl(command, "-f", self.file, code=3)
            self.assertIn(f"{self.file}:4:", done.stderr)
            self.assertIn(f"{self.file}:9:", done.stderr)

    def test_missing_file_is_3(self):
        self.run_ctl("validate", "-f", self.directory / "nosuch", code=3)

    def test_what_the_daemon_refuses_has_its_place(self):
        target = self.daemon()
        self.file.write_text(SERVICES.replace("203.0.113.10", "198.51.100.11"), encoding="ascii")
        done = self.run_ctl("--target", target, "apply", "-f", self.file, code=3)
        self.assertIn(f"{self.file}:9:", done.stderr)
        self.assertIn("services[0].address", done.stderr)

    def test_e06_backend_that_is_the_balancer_or_a_vip(self):
        target = self.daemon()
        self.file.write_text(SERVICES.replace("10.1.0.12", "198.51.100.11"), encoding="ascii")
        done = self.run_ctl("--target", target, "apply", "-f", self.file, code=3)
        self.assertIn(f"{self.file}:7:", done.stderr)
        self.assertIn("198.51.100.11 is an address of port uplink of this host", done.stderr)
        for vip in ("10.1.0.12", "10.1.0.0/16"):
            self.file.write_text(SERVICES.replace("203.0.113.10", vip), encoding="ascii")
            done = self.run_ctl("validate", "-f", self.file, code=3)
            self.assertIn(f"{self.file}:9:26 services[0].address: {vip} ", done.stderr)
            self.assertIn("the backend pools[0].backends[", done.stderr)

    def test_warnings_have_their_place(self):
        self.file.write_text(SERVICES.replace("ports: [80]", "gue_udp_checksum: zero"),
                             encoding="ascii")
        done = self.run_ctl("validate", "-f", self.file)
        self.assertEqual(done.stderr, f"{self.file}:9:73 services[0].gue_udp_checksum: warning: "
                         "zero has no effect: the encapsulation is not gue\n")

    def test_apply_and_read_back(self):
        target = self.daemon()
        done = self.run_ctl("apply", "-f", "-", "--target", target, stdin=SERVICES)
        self.assertEqual(done.stdout, "generation 1 runs\n")
        text = self.run_ctl("get", "config", "-o", "yaml", "--target", target).stdout
        again = self.run_ctl("apply", "-f", "-", "--target", target, stdin=text)
        self.assertEqual(again.stdout, "generation 1 runs\n")
        self.assertEqual(self.json(target, "get", "config")["generation"], "1")

    def test_silent_worker_is_5(self):
        done = self.run_ctl("--target", self.daemon("d", "1"), "apply", "-f", self.file, code=5)
        self.assertIn("silent worker 1", done.stderr)


class Shows(Case):
    def test_status(self):
        target = self.applied()
        self.assertEqual(self.json(target, "status")["generation"], "1")
        self.assertRegex(self.run_ctl("--target", target, "status").stdout, r"generation  1\n")

    def test_gets(self):
        target = self.applied()
        pools = self.json(target, "get", "pools")["pools"]
        self.assertEqual((pools[0]["name"], pools[0]["tableSize"]), ("web", 1009))
        self.assertEqual(self.json(target, "get", "services", "web")["services"][0]["backends"], 2)
        backends = self.json(target, "get", "backends", "web")["backends"]
        self.assertEqual([one["address"] for one in backends], ["10.1.0.11", "10.1.0.12"])
        self.assertEqual(backends[0]["liveFlows"], "0")
        self.assertEqual(self.json(target, "get", "ports")["ports"][0]["name"], "uplink")
        self.assertEqual(len(self.json(target, "get", "workers")["workers"]), 2)
        self.assertEqual(self.json(target, "get", "workers", "1")["workers"][0]["index"], 1)
        for what in ("services", "pools", "backends", "ports", "workers"):
            self.run_ctl("--target", target, "get", what, "-o", "yaml")
            self.run_ctl("--target", target, "get", what)
            self.assertIn("nosuch", self.run_ctl("--target", target, "get", what, "nosuch",
                                                 code=7).stderr)

    def test_workers_and_their_ports(self):
        target = self.daemon()
        wanted = {"received": "21", "forwarded": "1", "answered": "2", "held": "4",
                  "dropped": "14", "transmitted": "3"}
        workers = self.json(target, "get", "workers")["workers"]
        self.assertEqual([one["ports"] for one in workers], [[{"name": "uplink", **wanted}]] * 2)
        lines = self.run_ctl("--target", target, "get", "workers").stdout.splitlines()
        titles = lines.index("WORKER  PORT    RECEIVED  FORWARDED  ANSWERED  HELD  DROPPED  "
                             "TRANSMITTED")
        self.assertEqual([line.split() for line in lines[titles + 1:]],
                         [[worker, "uplink", *wanted.values()] for worker in "01"])
        text = self.run_ctl("--target", target, "get", "workers", "1", "-o", "yaml").stdout
        shown = ", ".join(f"{name}: {value}" for name, value in wanted.items())
        self.assertIn(f"- {{name: uplink, {shown}}}", text)

    def test_prefixes_ranges_and_every_port(self):
        target = self.daemon()
        text = SERVICES + """\
  - {name: more, address: 203.0.113.64/26, protocol: udp, ports: [53, "8000-8010"], pool: web,
     encapsulation: gue, icmp_echo: forward, outer_source_prefix: 192.0.2.0/25,
     gue_udp_checksum: zero, deny: [192.0.2.128/25, 192.0.2.1]}
  - {name: all, address: "2001:db8:53::/64", protocol: tcp, pool: web, encapsulation: gre}
"""
        self.run_ctl("--target", target, "apply", "-f", "-", stdin=text)
        done = self.run_ctl("--target", target, "get", "services")
        rows = {line.split()[0]: line.split()[1:6] for line in done.stdout.splitlines()}
        self.assertEqual(rows["web"], ["203.0.113.10", "tcp", "80", "web", "ipip"])
        self.assertEqual(rows["more"],
                         ["203.0.113.64/26", "udp", "53,8000-8010", "web", "gue"])
        self.assertEqual(rows["all"], ["2001:db8:53::/64", "tcp", "*", "web", "gre"])
        # What is printed is what was sent: applying it again changes nothing.
        text = self.run_ctl("get", "config", "-o", "yaml", "--target", target).stdout
        for line in ("ports: [53, \"8000-8010\"]", "icmp_echo: forward",
                     "outer_source_prefix: 192.0.2.0/25", "gue_udp_checksum: zero",
                     "deny: [192.0.2.128/25, 192.0.2.1]"):
            self.assertIn(line, text)
        again = self.run_ctl("apply", "-f", "-", "--target", target, stdin=text)
        self.assertEqual(again.stdout, "generation 1 runs\n")

    def test_tables_are_aligned(self):
        lines = self.run_ctl("--target", self.applied(), "get", "backends").stdout.splitlines()
        self.assertEqual(len(lines), 3)
        at = lines[0].index("ADDRESS")
        self.assertTrue(all(line[at:].startswith("10.1.0.1") for line in lines[1:]), lines)
        self.assertNotIn("\x1b", "".join(lines))

    def test_counters(self):
        target = self.daemon()
        every = {one["name"]: one["value"] for one in self.json(target, "counters")["counters"]}
        self.assertEqual(every["received"], "5")
        self.assertEqual(every["forwarded"], "3")
        some = self.json(target, "counters", "--nonzero")["counters"]
        self.assertEqual([one["name"] for one in some], ["drop_tx_full", "forwarded", "received"])
        drops = self.json(target, "drops")["counters"]
        self.assertTrue(all(one["name"].startswith("drop_") for one in drops))


class Drains(Case):
    def test_drain_and_undrain(self):
        target = self.applied()
        before = self.json(target, "get", "pools")["pools"]
        self.run_ctl("--target", target, "backend", "drain", "web", "web1")
        backends = self.json(target, "get", "backends")["backends"]
        self.assertEqual(backends[0]["adminState"], "ADMIN_STATE_DRAINING")
        self.run_ctl("backend", "undrain", "web", "10.1.0.11", "--target", target)
        self.assertEqual(self.json(target, "get", "pools")["pools"], before)

    def test_last_one_needs_force(self):
        target = self.applied()
        drain = ("--target", target, "backend", "drain", "web", "web1", "web2")
        self.assertIn("--force", self.run_ctl(*drain, code=3).stderr)
        self.run_ctl(*drain, "--force")

    def test_unknown_is_7(self):
        target = self.applied()
        for pool, backend in (("wob", "web1"), ("web", "10.9.9.9")):
            self.run_ctl("--target", target, "backend", "drain", pool, backend, code=7)


class SeveralTargets(Case):
    def setUp(self):
        super().setUp()
        self.one, self.two = self.daemon("one"), self.daemon("two")
        self.both = ("--target", self.one, "--target", self.two)
        self.run_ctl(*self.both, "apply", "-f", self.file)

    def test_each_under_its_name(self):
        done = self.run_ctl(*self.both, "get", "pools")
        self.assertIn(f"{self.one}:\n", done.stdout)
        self.assertIn(f"{self.two}:\n", done.stdout)
        both = json.loads(self.run_ctl(*self.both, "-o", "json", "get", "pools").stdout)
        self.assertEqual(list(both), [self.one, self.two])
        self.assertEqual(both[self.one], both[self.two])

    def test_differing_digests_are_1(self):
        self.run_ctl("--target", self.two, "backend", "drain", "web", "web1")
        done = self.run_ctl(*self.both, "get", "pools", code=1)
        self.assertEqual(done.stdout.count("DIFFERS"), 2)
        self.assertIn("pool web: digests differ", done.stderr)

    def test_first_failure_decides(self):
        nobody = f"unix:{self.directory}/nobody.sock"
        done = self.run_ctl("--target", self.one, "--target", nobody, "-o", "json", "get",
                            "backends", "nosuch", code=7)
        self.assertIn("error", json.loads(done.stdout)[nobody])
        self.run_ctl("--target", nobody, "--target", self.one, "get", "backends", "nosuch", code=4)
        done = self.run_ctl("--target", nobody, "--target", self.one, "status", code=4)
        self.assertIn("generation  1", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
