"""The penstock hosts: generated configuration, the daemon, and penstockctl on its socket."""

import contextlib
import json
import os
import shutil
import signal
import time

from . import processes
from .commands import run
from .settings import BACKENDS, BALANCERS, TUNNELS, UDP_TUNNELS, VIP4, VIP6, LabError

_READY_SECONDS = 20

# Ordinary pages and a sleep when idle: several daemons share two cores with everything else.
_PENSTOCKD = """\
dataplane:
  workers: [{core}]
  memory: {{hugepages: false, megabytes: 256}}
  flow_table: {{v4_entries_per_worker: 65536, v6_entries_per_worker: 65536}}
  idle_sleep: 50us
  ports:
    - name: uplink
      device: "{device}"
      mtu: {mtu}
      vlan: {vlan}
      addresses: [{address4}/24, "{address6}/64"]
      gateways: [{gateway4}, "{gateway6}"]
control:
  listen: ["unix:{socket}"]
"""
# Either of these follows.
_FROM_FILE = "services_file: {services}\n"
_OVER_RPC = "  state_dir: {state}\n"

# A long ring: a short one drops bursts where no counter shows it.
_DEVICE = ("net_af_packet0,iface=eth0,blocksz=65536,framesz=2048,framecnt=8192,qpairs=1,"
           "qdisc_bypass=0")

_SERVICES = """\
hash: {{seed: "lab"}}
pools:
  - name: web
    table_size: 65537
    backends:
{web}
  - name: web6
    table_size: 65537
    backends:
{web6}
services:
  - {{name: web-http, address: {vip4}, protocol: tcp, ports: [80], pool: web,
     encapsulation: ipip}}
  - {{name: web6-http, address: "{vip6}", protocol: tcp, ports: [80], pool: web6,
     encapsulation: ipip}}
  - {{name: web-4in6, address: {vip4}, protocol: tcp, ports: [8046], pool: web6,
     encapsulation: ipip}}
  - {{name: web-6in4, address: "{vip6}", protocol: tcp, ports: [8064], pool: web,
     encapsulation: ipip}}
"""
_SERVICE = """\
  - {{name: {protocol}-{name}, address: "{vip}", protocol: {protocol}, ports: [{port}],
     pool: {pool}, encapsulation: {encapsulation}}}
"""


def start(settings, mtu=None, vlan=0, over_rpc=False):
    """Starts both daemons, their ports in this VLAN and with this MTU instead of the lab's, and
    returns when both are ready: then they know their gateways. With `over_rpc` they have no
    services file, but a directory for their state."""
    for number, balancer in enumerate(BALANCERS):
        _configure(settings, balancer, number, mtu, vlan, over_rpc)
        _start_one(settings, balancer.name)
    for balancer in BALANCERS:
        wait_ready(settings, balancer.name)


def restart(settings, mtu=None, vlan=0):
    """They forget flows and learned MTUs; changes of their configuration over RPC are undone."""
    stop(settings)
    start(settings, mtu, vlan)


@contextlib.contextmanager
def told_over_rpc(settings, text):
    """Both hosts begin with an empty state, are told these services, and keep what they are told.
    Afterwards they are the lab's again, and their state is gone."""
    try:
        stop(settings)
        start(settings, over_rpc=True)
        apply(settings, text)
        yield
    finally:
        stop(settings)
        for balancer in BALANCERS:
            shutil.rmtree(_state_directory(settings, balancer.name), ignore_errors=True)
        start(settings)


def stop(settings):
    for balancer in BALANCERS:
        processes.stop(settings, f"penstockd-{balancer.name}")


def restart_one(settings, name, how=signal.SIGTERM):
    """Ends one host in this way and starts it as it was; returns when it is ready."""
    processes.stop(settings, f"penstockd-{name}", how)
    _start_one(settings, name)
    wait_ready(settings, name)


def apply(settings, text):
    """Tells both hosts these services, as an operator does."""
    path = settings.directory / "applied.yaml"
    path.write_text(text, encoding="ascii")
    control_all(settings, "apply", "-f", path)


def _configure(settings, balancer, number, mtu, vlan, over_rpc):
    directory = settings.directory / balancer.name
    directory.mkdir(parents=True, exist_ok=True)
    services_file(settings).write_text(services_text(), encoding="ascii")
    template = _PENSTOCKD + (_OVER_RPC if over_rpc else _FROM_FILE)
    _configuration(settings, balancer.name).write_text(template.format(
        core=(number + 1) % (os.cpu_count() or 1), device=_DEVICE,
        mtu=mtu or balancer.mtu, vlan=vlan,
        address4=balancer.address4, address6=balancer.address6,
        gateway4=balancer.gateway4, gateway6=balancer.gateway6,
        socket=settings.socket(balancer.name), services=services_file(settings),
        state=_state_directory(settings, balancer.name)), encoding="ascii")


def _start_one(settings, name):
    # DPDK keeps its run-time files there, so that a killed daemon leaves none elsewhere.
    processes.start(settings, f"penstockd-{name}", name, settings.program("penstockd"), "--config",
                    _configuration(settings, name),
                    environment={"RUNTIME_DIRECTORY": str(settings.directory / name)})


def _configuration(settings, name):
    return settings.directory / name / "penstockd.yaml"


def _state_directory(settings, name):
    return settings.directory / name / "state"


def reload(settings, name, text):
    """Gives one host another services file, and returns when it runs that."""
    before = get(settings, name, "status")["generation"]
    services_file(settings).write_text(text, encoding="ascii")
    processes.send(settings, f"penstockd-{name}", signal.SIGHUP)
    deadline = time.monotonic() + _READY_SECONDS
    while get(settings, name, "status")["generation"] == before:
        if time.monotonic() > deadline:
            process = f"penstockd-{name}"
            raise LabError(f"{name} does not take its services file; the end of its log:\n"
                           f"{processes.log_tail(settings, process)}")
        time.sleep(0.05)


def wait_ready(settings, name):
    process = f"penstockd-{name}"
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if control(settings, name, "status", check=False).returncode == 0:
            return
        if not processes.is_running(settings, process):
            break
        time.sleep(0.05)
    what = "does not answer" if processes.is_running(settings, process) else "ended"
    raise LabError(f"penstockd on {name} {what}; the end of "
                   f"{processes.log_path(settings, process)}:\n"
                   f"{processes.log_tail(settings, process)}")


def control(settings, name, *arguments, check=True):
    """penstockctl against one host, JSON output. The socket is a file, so any namespace will do."""
    return run(settings.program("penstockctl"), "--target", f"unix:{settings.socket(name)}",
               "-o", "json", *arguments, check=check, timeout=30)


def control_all(settings, *arguments):
    for balancer in BALANCERS:
        control(settings, balancer.name, *arguments)


def get(settings, name, *arguments):
    return json.loads(control(settings, name, *arguments).stdout)


def counters(settings, name):
    """{counter: value} of one host, summed over its workers."""
    answer = get(settings, name, "counters")
    return {one["name"]: int(one["value"]) for one in answer["counters"]}


def counters_of_all(settings):
    """The same, summed over both hosts."""
    both = [counters(settings, balancer.name) for balancer in BALANCERS]
    return {name: sum(one[name] for one in both) for name in both[0]}


def services_file(settings):
    return settings.directory / "services.yaml"


def pools(settings, name):
    """{pool: fields} of one host."""
    return {pool["name"]: pool for pool in get(settings, name, "get", "pools")["pools"]}


def pool_backends(settings, name, pool):
    """{address: fields} of one pool on one host. 64-bit numbers are strings (proto JSON)."""
    listed = get(settings, name, "get", "backends")["backends"]
    return {one["address"]: one for one in listed if one["pool"] == pool}


def services_text(web=BACKENDS, weights=None):
    """What both hosts run, unless a test says otherwise. `web`: the backends of that pool;
    `weights`: {name: weight} of those in it that do not have 100."""
    weights = weights or {}
    web = "\n".join(f"      - {{address: {one.address4}, name: {one.name}, "
                    f"weight: {weights.get(one.name, 100)}}}" for one in web)
    web6 = "\n".join(f'      - {{address: "{one.address6}", name: {one.name}}}'
                     for one in BACKENDS)
    services = _SERVICES.format(web=web, web6=web6, vip4=VIP4, vip6=VIP6)
    for protocol, tunnels in (("tcp", TUNNELS), ("udp", UDP_TUNNELS)):
        services += "".join(_SERVICE.format(
            protocol=protocol, name=one.kind.replace("_", "-"), vip=one.vip, port=one.port,
            pool="web" if one.outer == 4 else "web6", encapsulation=one.encapsulation)
            for one in tunnels)
    return services
