"""One penstock host with other ports and workers than the lab's, for the length of a test."""

import contextlib
import json

from . import balancers, network, processes
from .settings import BALANCERS, LabError

# Ordinary pages and a sleep when idle, as for the others.
_COMMON = {
    "memory": {"hugepages": False, "megabytes": 256},
    "flow_table": {"v4_entries_per_worker": 65536, "v6_entries_per_worker": 65536},
    "idle_sleep": "50us",
}


def port(host, device, name="uplink"):
    """The configuration of a port with the host's addresses and gateways."""
    return {"name": name, "device": device, "mtu": host.mtu,
            "addresses": [f"{host.address4}/24", f"{host.address6}/64"],
            "gateways": [host.gateway4, host.gateway6]}


@contextlib.contextmanager
def running(settings, balancer, workers, ports):
    """The host runs with these cores and ports and gets all packets for the VIPs."""
    process = f"penstockd-{balancer.name}"
    try:
        processes.stop(settings, process)
        _start(settings, balancer, {**_COMMON, "workers": workers, "ports": ports})
        balancers.wait_ready(settings, balancer.name)
        network.set_next_hops(settings, [balancer.name])
        missing = network.wait_for_neighbors(settings, [balancer.name])
        if missing:
            raise LabError(f"no answer to ARP or NDP from {missing}:\n"
                           f"{processes.log_tail(settings, process)}")
        yield
    finally:
        processes.stop(settings, process)
        balancers.restart(settings)
        network.set_next_hops(settings, [one.name for one in BALANCERS])


def _start(settings, balancer, dataplane):
    directory = settings.directory / balancer.name
    configuration = directory / "variant.yaml"
    configuration.write_text(json.dumps({  # JSON is YAML
        "dataplane": dataplane,
        "control": {"listen": [f"unix:{settings.socket(balancer.name)}"]},
        "services_file": str(balancers.services_file(settings)),
    }), encoding="ascii")
    processes.start(settings, f"penstockd-{balancer.name}", balancer.name,
                    settings.program("penstockd"), "--config", configuration,
                    environment={"RUNTIME_DIRECTORY": str(directory)})


def workers(settings, balancer):
    """[{port: {received, forwarded, ...}}] by worker."""
    listed = balancers.get(settings, balancer.name, "get", "workers")["workers"]
    return [{one["name"]: {key: int(value) for key, value in one.items() if key != "name"}
             for one in worker["ports"]} for worker in listed]


def grown(before, after):
    """The same, of what came in between."""
    return [{name: {key: now - then[name][key] for key, now in values.items()}
             for name, values in worker.items()} for then, worker in zip(before, after)]


def check_sums(settings, balancer):
    """received = forwarded + answered + held + dropped for each worker and port, and the sums over
    workers are those of `counters`; polled, as packets go on arriving."""
    for _ in range(50):
        numbers = workers(settings, balancer)
        totals = balancers.counters(settings, balancer.name)
        again = workers(settings, balancer)
        if numbers != again:
            continue
        each = [values for worker in numbers for values in worker.values()]
        wrong = [one for one in each if one["received"] != one["forwarded"] + one["answered"] +
                 one["held"] + one["dropped"]]
        assert not wrong, f"packets without an end: {wrong}"
        for name in ("received", "forwarded", "transmitted"):
            added = sum(one[name] for one in each)
            assert added == totals[name], f"{name}: {added} by worker, {totals[name]} in all"
        return
    raise AssertionError("the link is never quiet")
