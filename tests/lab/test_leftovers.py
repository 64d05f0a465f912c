"""A lab that was killed in the middle leaves nothing the next one trips over."""

import dataclasses
import os
import signal
import subprocess
import time

from penstock_lab import Lab, backends, processes, traffic
from penstock_lab.settings import BACKENDS, URL_4IN4


def second_lab(lab):
    """With an id of its own: the lab of the other tests must not notice."""
    return Lab(dataclasses.replace(lab.settings, id=lab.settings.id + "-leftovers"))


def kill_everything(lab):
    for pid in processes.ours(lab.settings):
        os.kill(pid, signal.SIGKILL)


def wait_until_busy(lab):
    deadline = time.monotonic() + 5
    while not any(backends.connections(lab.settings, backend.name) for backend in BACKENDS):
        assert time.monotonic() < deadline, "no download starts"
        time.sleep(0.02)


def test_up_after_kill(lab):
    """kill -9 of a whole lab mid-run: the next one starts and serves, and leaves no trace"""
    killed = second_lab(lab)
    try:
        killed.up()
        running = traffic.start_downloads(killed.settings, 10, URL_4IN4)
        wait_until_busy(killed)
        kill_everything(killed)
        running.wait(timeout=10)
        assert killed.traces(), "the lab left nothing, so nothing was tested"
        killed.up()
        assert sum(traffic.spread(killed.settings, 20, URL_4IN4).values()) == 20
    finally:
        killed.down()
    assert not killed.traces(), f"left: {killed.traces()}"
    assert not second_lab(lab).settings.directory.exists()


def test_up_over_running(lab):
    """a lab whose owner vanished, processes still running, is replaced by the next one"""
    left = second_lab(lab)
    try:
        left.up()
        before = processes.ours(left.settings)
        left.up()
        assert not before & processes.ours(left.settings), "old processes are still there"
    finally:
        left.down()
    assert not left.traces(), f"left: {left.traces()}"


def test_foreign_process(lab):
    """a stale pid file that names a foreign process kills nobody"""
    foreign = subprocess.Popen(["sleep", "60"])
    left = second_lab(lab)
    try:
        left.settings.pids.mkdir(parents=True)
        processes.pid_path(left.settings, "penstockd-lb1").write_text(str(foreign.pid))
        left.down()
        assert foreign.poll() is None, "a foreign process was killed"
    finally:
        foreign.kill()
        foreign.wait()
        left.down()
