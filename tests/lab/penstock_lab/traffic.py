"""What the client does, and what passes on a link: real curl, real TCP, tcpdump."""

import collections
import contextlib
import math
import signal
import subprocess
import time

from . import backends, processes
from .commands import inside, run, run_in
from .settings import BALANCERS, CLIENT, ROUTER, LabError, host

# `Connection: close` makes the server close first. So each request is a connection of its own, and
# the waiting time of a closed one is the server's: the client may use its port again at once.
_CURL = ("curl", "--silent", "--show-error", "--fail", "--header", "Connection: close",
         "--connect-timeout", "10")


def spread(settings, count, url):
    """`count` requests, each on its own connection: {backend: requests}. All must succeed."""
    done = run_in(settings, CLIENT.name, *_CURL, "--parallel", "--parallel-immediate",
                  "--parallel-max", "16", "--max-time", "30", "--output", "/dev/null",
                  "--write-out", "%header{x-backend}\\n", f"{url}/?[1-{count}]", check=False,
                  timeout=120)
    result = collections.Counter(line for line in done.stdout.split() if line)
    if done.returncode != 0 or sum(result.values()) != count:
        raise LabError(f"{sum(result.values())} of {count} requests to {url} were answered; "
                       f"curl exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return dict(result)


def uneven(counts, names, sigmas=5):
    """Why `counts` is not an even spread over `names`; empty if it may be one."""
    total = sum(counts.values())
    share = 1 / len(names)
    slack = sigmas * math.sqrt(total * share * (1 - share))
    reasons = [f"unknown backend {name!r}" for name in counts if name not in names]
    for name in names:
        if abs(counts.get(name, 0) - total * share) > slack:
            reasons.append(f"{name} got {counts.get(name, 0)} of {total}, "
                           f"expected {total * share:.0f} +- {slack:.0f}")
    return "; ".join(reasons)


def backends_of(settings, url, local_ports):
    """The backends that answer requests from these source ports, one after the other."""
    command = ["curl", "--fail-early"]
    for number, port in enumerate(local_ports):
        command += ["--next"] if number else []
        command += [*_CURL[1:], "--local-port", port, "--max-time", "10", f"{url}/"]
    return run_in(settings, CLIENT.name, *command).stdout.split()


def download(settings, url, path="/blob"):
    """Fetches a shared file; returns "" if it is intact, else what is wrong."""
    target = settings.directory / "download"
    run_in(settings, CLIENT.name, *_CURL, "--output", target, "--max-time", "60", url + path,
           timeout=70)
    wanted = backends.sha256(backends.shared_file(settings, path.strip("/")))
    return "" if backends.sha256(target) == wanted else f"{url}{path}: wrong sha256"


def start_upload(settings, url, name, rate=None, local_port=None, file="blob", seconds=90):
    """Starts a PUT of a shared file, which fails after `seconds`; `finish_upload` waits for its
    end."""
    command = [*_CURL, "--upload-file", backends.shared_file(settings, file), "--max-time", seconds,
               "--header", "Expect:"]
    if rate:
        command += ["--limit-rate", rate]
    if local_port:
        command += ["--local-port", local_port]
    return subprocess.Popen(inside(settings, CLIENT.name, *command, f"{url}/up/{name}"), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish_upload(settings, process, name, file="blob"):
    """Returns (backend, problem): where the upload arrived, and "" if it is intact."""
    _, errors = process.communicate(timeout=100)
    stored = backends.uploads(settings, name)
    if process.returncode != 0:
        return None, f"curl exit {process.returncode}: {errors.strip()}"
    if len(stored) != 1:
        return None, f"stored on {sorted(stored) or 'no backend'}"
    backend, path = stored.popitem()
    wanted = backends.sha256(backends.shared_file(settings, file))
    good = backends.sha256(path) == wanted
    return backend, "" if good else f"wrong sha256 on {backend}"


def start_downloads(settings, count, url, path="/slow", name="downloads", seconds=60):
    """`count` downloads at a time, each on its own connection; /slow is slowed down by the server.
    Each fails after `seconds`. Two that run at once need names."""
    directory = settings.directory / name
    directory.mkdir(exist_ok=True)
    return subprocess.Popen(
        inside(settings, CLIENT.name, *_CURL, "--parallel", "--parallel-immediate",
               "--parallel-max", count, "--max-time", seconds, "--output",
               f"{directory}/#1", "--write-out", "%header{x-backend}\\n",
               f"{url}{path}?[1-{count}]"),
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish_downloads(settings, process, count, path="/slow", name="downloads"):
    """Returns ({backend: downloads}, problem)."""
    output, errors = process.communicate(timeout=90)
    wanted = backends.sha256(backends.shared_file(settings, path.strip("/")))
    files = [settings.directory / name / str(n) for n in range(1, count + 1)]
    broken = [path.name for path in files if not path.is_file() or backends.sha256(path) != wanted]
    for path in files:
        path.unlink(missing_ok=True)
    problem = ""
    if process.returncode != 0 or broken:
        problem = f"curl exit {process.returncode}, broken {broken}: {errors.strip()[-300:]}"
    return dict(collections.Counter(output.split())), problem


@contextlib.contextmanager
def captured(settings, expression):
    """Captures what the router sends to each penstock host. Yields a function that ends the capture
    and returns {host: packets}."""
    with _captured_lines(settings, expression) as lines:
        yield lambda: {name: len(shown) for name, shown in lines().items()}


@contextlib.contextmanager
def captured_flows(settings, expression):
    """The same for packets with ports: the function returns {host: Counter {source port: packets}}.
    """
    with _captured_lines(settings, expression) as lines:
        # "12:00:00.000000 IP 10.1.0.2.20000 > 203.0.113.10.80: ..."
        yield lambda: {name: collections.Counter(
            int(line.split()[2].rpartition(".")[2]) for line in shown)
            for name, shown in lines().items()}


@contextlib.contextmanager
def _captured_lines(settings, expression):
    names = [balancer.name for balancer in BALANCERS]
    for name in names:
        _start_capture(settings, name, expression)
    try:
        yield lambda: {name: _end_capture(settings, name) for name in names}
    finally:
        for name in names:
            processes.stop(settings, f"tcpdump-{name}")


def _start_capture(settings, name, expression):
    process = f"tcpdump-{name}"
    processes.log_path(settings, process).unlink(missing_ok=True)
    processes.start(settings, process, ROUTER, "tcpdump", "-i", host(name).link, "-Q", "out", "-U",
                    "--immediate-mode", "-s", "96", "-Z", "root", "-w",
                    settings.directory / f"{name}.pcap", expression)
    deadline = time.monotonic() + 5
    while "listening on" not in processes.log_tail(settings, process):
        if time.monotonic() > deadline:
            raise LabError(f"tcpdump does not start: {processes.log_tail(settings, process)}")
        time.sleep(0.02)


def _end_capture(settings, name):
    """A line for each packet."""
    processes.stop(settings, f"tcpdump-{name}", signal.SIGINT)
    return run("tcpdump", "-nr", settings.directory / f"{name}.pcap").stdout.splitlines()
