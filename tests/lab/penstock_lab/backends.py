"""A backend: our decapsulator on its link, nginx behind it on the VIP."""

import hashlib
import json
import shutil

from . import processes
from .commands import run_in
from .settings import BACKENDS, HTTP_PORTS, LabError

# What the client may fetch and send.
FILES = {
    "blob": 50_000_000,  # long enough to span a change of routes
    "slow": 3_000_000,  # fifty of them at a time, ten seconds each
    "part": 10_000_000,
    "page": 1_000_000,
    "long": 1_000_000,  # fifty seconds at the pace of long_connections
}
SLOW_RATE = "300k"  # bytes a second; set by the server, as curl lets a parallel transfer burst

# One process tree per backend, all paths in the lab's directory, nothing from /etc/nginx.
_NGINX = """
daemon on;
user root;
worker_processes 1;
pid {pid};
error_log {log} warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile on;
  client_max_body_size 0;
  client_body_temp_path {root}/tmp;
  proxy_temp_path {root}/tmp;
  fastcgi_temp_path {root}/tmp;
  uwsgi_temp_path {root}/tmp;
  scgi_temp_path {root}/tmp;
  server {{
    {listen}
    add_header X-Backend {name} always;
    location = / {{ default_type text/plain; return 200 "{name}\\n"; }}
    location = /blob {{ alias {shared}/blob; }}
    location = /slow {{ alias {shared}/slow; limit_rate {slow_rate}; }}
    location = /page {{ alias {shared}/page; }}
    location = /long {{ alias {shared}/long; }}
    location /up/ {{ root {root}; dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""


def start(settings, decap=True):
    make_files(settings)
    for backend in BACKENDS:
        if decap:
            run_in(settings, backend.name, settings.program("penstock-decap"), "attach", "eth0")
        start_server(settings, backend.name)


def start_server(settings, name):
    root = settings.directory / name
    (root / "tmp").mkdir(parents=True, exist_ok=True)
    configuration = root / "nginx.conf"
    configuration.write_text(_nginx_configuration(settings, name), encoding="ascii")
    # Returns once it listens, so there is nothing to wait for.
    run_in(settings, name, "nginx", "-c", configuration, "-p", root,
           "-e", processes.log_path(settings, f"nginx-{name}"))


def kill_server(settings, name):
    """kill -9 of all that runs on a backend: its kernel closes the connections."""
    processes.kill_in(settings, name)


def make_files(settings):
    """Pseudo-random, so that a swapped or repeated block does not go unnoticed; same every time."""
    shared = settings.directory / "shared"
    shared.mkdir(parents=True, exist_ok=True)
    for name, size in FILES.items():
        (shared / name).write_bytes(hashlib.shake_128(name.encode()).digest(size))


def shared_file(settings, name):
    return settings.directory / "shared" / name


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def uploads(settings, name):
    """Where the upload `name` arrived: {backend: path}."""
    paths = {one.name: settings.directory / one.name / "up" / name for one in BACKENDS}
    return {backend: path for backend, path in paths.items() if path.is_file()}


def forget_uploads(settings):
    for backend in BACKENDS:
        shutil.rmtree(settings.directory / backend.name / "up", ignore_errors=True)


def decap_packets(settings):
    """{backend: {kind: packets}} as penstock-decap counted them."""
    result = {}
    for backend in BACKENDS:
        done = run_in(settings, backend.name, settings.program("penstock-decap"), "counters",
                      "eth0", "-o", "json")
        kinds = json.loads(done.stdout)["counters"]
        result[backend.name] = {kind: value["packets"] for kind, value in kinds.items()}
    return result


def connections(settings, backend):
    """Client ends ("address:port") of the established connections of one backend."""
    done = run_in(settings, backend, "ss", "-Htn", "state", "established")
    return {line.split()[3] for line in done.stdout.splitlines() if line.strip()}


def reset_connections(settings):
    """Ends every connection of every backend, also those that no process has any more. What they
    would send later would be answered through penstock, in the middle of another test."""
    for backend in BACKENDS:
        run_in(settings, backend.name, "ss", "-K", "-Htn", "state", "connected")
        left = run_in(settings, backend.name, "ss", "-Htn", "state", "connected").stdout
        if left:
            raise LabError(f"ss -K leaves connections on {backend.name}; does the kernel have "
                           f"CONFIG_INET_DIAG_DESTROY?\n{left}")


def _nginx_configuration(settings, name):
    # No deferred accept and a long backlog: a burst of 300 connections is part of the tests.
    listen = "\n    ".join(f"listen {port} backlog=2048; listen [::]:{port} backlog=2048;"
                           for port in HTTP_PORTS)
    return _NGINX.format(pid=processes.pid_path(settings, f"nginx-{name}"),
                         log=processes.log_path(settings, f"nginx-{name}"),
                         root=settings.directory / name, shared=settings.directory / "shared",
                         listen=listen, name=name, slow_rate=SLOW_RATE)
