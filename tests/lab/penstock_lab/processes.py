"""Processes of a lab: started with a pid file, and never mistaken for somebody else's.

`ip netns del` kills nothing, so a lab that was killed leaves its processes behind. Two things make
a process ours: its namespace is one of the lab's, or a pid file of the lab names it and its command
line holds the lab's directory. A pid alone proves nothing, it may be in use again.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

from .commands import inside
from .settings import NAMES, LabError


def start(settings, process, name, *command, environment=None):
    """Starts `command` in the namespace of host `name`; its output goes to the log of `process`."""
    with open(log_path(settings, process), "ab") as log:
        child = subprocess.Popen(inside(settings, name, *command), stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=log, start_new_session=True,
                                 env={**os.environ, **(environment or {})})
    pid_path(settings, process).write_text(f"{child.pid}\n", encoding="ascii")
    return child


def pid_path(settings, process):
    return settings.pids / f"{process}.pid"


def log_path(settings, process):
    return settings.logs / f"{process}.log"


def log_tail(settings, process, lines=20):
    try:
        text = log_path(settings, process).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "(no log)"
    return "\n".join(text.splitlines()[-lines:]) or "(empty log)"


def is_running(settings, process):
    pid = _pid_from(pid_path(settings, process))
    return pid is not None and _is_named_ours(settings, pid)


def stop(settings, process, how=signal.SIGTERM, timeout=5.0):
    """Ends one process and waits until it is gone; killed when it does not follow."""
    pid = _pid_from(pid_path(settings, process))
    if pid is None or not _is_named_ours(settings, pid):
        return
    _signal({pid}, how)
    if not _wait_gone({pid}, timeout):
        _signal({pid}, signal.SIGKILL)
        _wait_gone({pid}, timeout)
    pid_path(settings, process).unlink(missing_ok=True)


def send(settings, process, how):
    """Sends a signal to one process. LabError if it does not run."""
    pid = _pid_from(pid_path(settings, process))
    if pid is None or not _is_named_ours(settings, pid):
        raise LabError(f"{process} does not run")
    _signal({pid}, how)


def kill_in(settings, name):
    """kill -9 of every process in the namespace of host `name`; returns when they are gone."""
    found = _in_namespaces(settings, [name])
    _signal(found, signal.SIGKILL)
    if not _wait_gone(found, 5.0):
        raise LabError(f"processes {sorted(found)} on {name} do not end")


def ours(settings):
    """Pids of all processes of the lab, whoever started them."""
    found = _in_namespaces(settings)
    if settings.pids.is_dir():
        for path in settings.pids.glob("*.pid"):
            pid = _pid_from(path)
            if pid is not None and _is_named_ours(settings, pid):
                found.add(pid)
    found.discard(os.getpid())
    return found


def stop_all(settings, patience):
    """Ends every process of the lab: asks, waits `patience` seconds, then kills."""
    if patience > 0:
        asked = ours(settings)
        _signal(asked, signal.SIGTERM)
        _wait_gone(asked, patience)
    # Twice at most: a process that was forking while we looked has children we did not see.
    for _ in range(3):
        rest = ours(settings)
        if not rest:
            return
        _signal(rest, signal.SIGKILL)
        _wait_gone(rest, 2.0)
    raise LabError(f"processes {sorted(ours(settings))} of lab {settings.id} do not end")


def _pid_from(path):
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _is_named_ours(settings, pid):
    try:
        command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return f"{settings.directory}/".encode() in command_line and not _is_zombie(pid)


def _in_namespaces(settings, names=NAMES):
    wanted = {_identity(f"/run/netns/{settings.namespace(name)}") for name in names} - {None}
    if not wanted:
        return set()
    pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return {pid for pid in pids if _identity(f"/proc/{pid}/ns/net") in wanted}


def _identity(path):
    """Device too: a namespace file that lost its mount is a plain file with any inode number."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_zombie(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def _signal(pids, how):
    for pid in pids:
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            continue


def _wait_gone(pids, timeout):
    deadline = time.monotonic() + timeout
    while any(not _is_zombie(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
