"""Runs penstockd on configuration files made of a few lines."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

PENSTOCKD = os.environ["PENSTOCKD"]
PENSTOCKCTL = os.environ["PENSTOCKCTL"]

SERVICES = """\
pools:
  - name: web
    table_size: 101
    backends: [{address: 10.1.0.11}]
services:
  - {name: web, address: 203.0.113.10, protocol: tcp, ports: [80], pool: web, encapsulation: ipip}
"""


class DaemonTest(unittest.TestCase):
    """A folder for each test, with penstockd.yaml in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="penstockd-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "penstockd.yaml"

    def write_host(self, device, workers=(0,), memory=None, flow_entries=1024, services_file="",
                   gateway_mac=""):
        """penstockd.yaml with one port; JSON is YAML."""
        port = {
            "name": "uplink",
            "device": device,
            "addresses": ["198.51.100.11/24"],
            "gateways": ["198.51.100.1"],
            "gateway_mac": gateway_mac,
        }
        host = {
            "dataplane": {
                "workers": list(workers),
                "memory": memory or {"hugepages": False, "megabytes": 64},
                "flow_table": {
                    "v4_entries_per_worker": flow_entries,
                    "v6_entries_per_worker": 1024,
                },
                "idle_sleep": "1ms",
                "ports": [port],
            },
            "control": {"listen": [f"unix:{self.folder}/penstockd.sock"]},
            "services_file": str(services_file),
        }
        self.config.write_text(json.dumps(host, indent=2))

    def run_penstockd(self, *arguments, **options):
        return subprocess.run(
            [PENSTOCKD, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )


class LivingDaemonTest(DaemonTest):
    """A penstockd that runs beside the test."""

    def start(self):
        """Starts penstockd; its log arrives in self.log."""
        self.log = []
        process = subprocess.Popen(
            [PENSTOCKD, "--config", str(self.config)], stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        threading.Thread(target=lambda: self.log.extend(process.stderr), daemon=True).start()
        return process

    def expect_log(self, text):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if any(text in line for line in list(self.log)):
                return
            time.sleep(0.02)
        self.fail(f"no {text!r} in\n{''.join(self.log)}")

    def control(self, *arguments):
        """penstockctl on the daemon, JSON output; it may take a second, an apply three."""
        seconds = 3 if "apply" in arguments else 1
        return subprocess.run(
            [PENSTOCKCTL, "--target", f"unix:{self.folder}/penstockd.sock", "-o", "json",
             "--timeout", f"{seconds}s", *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )
