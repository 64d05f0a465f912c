"""penstockd inside the guest: its configurations, one for each NIC, and penstockctl beside it."""

import json
import shlex

from penstock_lab import network
from penstock_lab.settings import BACKENDS, FABRIC_MTU, VIP4, VIP6

from .guest import E1000E, VIRTIO, wait_for

_FOLDER = "/etc/penstock"
_SOCKET = "/run/penstockd.sock"
_LOG = "/tmp/penstockd.log"
_EXIT = "/tmp/penstockd.exit"  # holds the exit code once the daemon has ended
_START_SECONDS = 30

# The workers sleep long: there may be only two real processors behind the guest's three.
_PENSTOCKD = """\
dataplane:
  workers: {workers}
  memory: {{hugepages: true, megabytes: 128}}
  flow_table: {{v4_entries_per_worker: 65536, v6_entries_per_worker: 65536}}
  idle_sleep: 1ms
  ports:
    - name: uplink
      device: "{device}"
      mtu: {mtu}
      addresses: [{host.address4}/24, "{host.address6}/64"]
      gateways: [{host.gateway4}, "{host.gateway6}"]
control:
  listen: ["unix:{socket}"]
services_file: {folder}/services.yaml
"""

_SERVICES = """\
hash: {{seed: "lab"}}
pools:
  - {{name: web, table_size: 65537, backends: [{web}]}}
  - {{name: web6, table_size: 65537, backends: [{web6}]}}
services:
  - {{name: web-http, address: {vip4}, protocol: tcp, ports: [80], pool: web}}
  - {{name: web6-http, address: "{vip6}", protocol: tcp, ports: [80], pool: web6}}
"""


def files():
    """What belongs into the guest's image: {path: text}."""
    return {f"{_FOLDER}/virtio.yaml": _configuration(VIRTIO, [2, 0]),
            f"{_FOLDER}/e1000e.yaml": _configuration(E1000E, [1]),
            f"{_FOLDER}/e1000e-two-workers.yaml": _configuration(E1000E, [0, 1]),
            f"{_FOLDER}/e1000e-three-workers.yaml": _configuration(E1000E, [0, 1, 2]),
            f"{_FOLDER}/services.yaml": _services()}


def refusal(guest, name):
    """Runs penstockd with a configuration that cannot work; returns (exit code, output)."""
    return guest.run(f"timeout 20 penstockd --config {_FOLDER}/{name}.yaml", check=False)


def ensure(guest, name, nic):
    """penstockd runs with configuration `name` afterwards, alone, and gets the VIPs' packets. When
    it has not started it is not tried again: the other tests of this configuration fail at once."""
    if guest.configuration == name:
        assert not has_ended(guest), f"penstockd does not run:\n{log(guest)}"
        return
    stop(guest)
    guest.bind(nic)
    guest.configuration = name
    guest.run(f"rm -f {_EXIT} {_SOCKET}; (penstockd --config {_FOLDER}/{name}.yaml >{_LOG} 2>&1; "
              f"echo $? >{_EXIT}) >/dev/null 2>&1 &")
    wait_for(lambda: guest.run(f"test -S {_SOCKET}", check=False)[0] == 0 or has_ended(guest),
             _START_SECONDS, "penstockd opens its socket")
    assert not has_ended(guest), f"penstockd ended:\n{log(guest)}"
    network.set_next_hops(guest.settings, [nic.host.name])
    missing = network.wait_for_neighbors(guest.settings, [nic.host.name])
    assert not missing, f"no ARP or NDP answer from {missing}\n{log(guest)}"


def stop(guest):
    """Ends the daemon if there is one; its exit code, or None."""
    guest.configuration = None
    if guest.run("pidof penstockd", check=False)[0] != 0:
        return None
    guest.run("kill $(pidof penstockd)")
    wait_for(lambda: has_ended(guest), 20, "penstockd ends")
    return int(guest.run(f"cat {_EXIT}")[1])


def has_ended(guest):
    return guest.run(f"test -e {_EXIT}", check=False)[0] == 0


def log(guest):
    return guest.run(f"tail -n 30 {_LOG}", check=False)[1]


def control(guest, *words):
    """The JSON that penstockctl prints, also with the exit code for a degraded host; {} if none."""
    _, output = guest.run(f"penstockctl --target unix:{_SOCKET} -o json {shlex.join(words)} "
                          "2>/tmp/complaint", check=False)
    return json.loads(output or "{}")


def port(guest):
    """The only port, as `penstockctl status` has it."""
    return control(guest, "status")["ports"][0]


def flows(guest):
    """Remembered flows of each worker, IPv4 and IPv6: [(4, 6), ...]. 64-bit numbers are strings."""
    return [(int(worker["v4Flows"]), int(worker["v6Flows"]))
            for worker in control(guest, "get", "workers")["workers"]]


def free_hugepages(guest):
    return int(guest.run("grep HugePages_Free /proc/meminfo")[1].split()[1])


def _configuration(nic, workers):
    return _PENSTOCKD.format(workers=workers, device=nic.device, mtu=FABRIC_MTU, host=nic.host,
                             socket=_SOCKET, folder=_FOLDER)


def _services():
    web = ", ".join(f"{{address: {one.address4}}}" for one in BACKENDS)
    web6 = ", ".join(f'{{address: "{one.address6}"}}' for one in BACKENDS)
    return _SERVICES.format(web=web, web6=web6, vip4=VIP4, vip6=VIP6)
