"""Links that go down and come up while workers run."""

import subprocess
import time

from penstock_lab import balancers, network, processes
from penstock_lab.commands import inside, ip_batch
from penstock_lab.settings import BALANCERS, CLIENT, ROUTER, URL_4IN4, URL_6IN6

HOST = BALANCERS[0]
FLAPS, TOGETHER = 100, 10
RESUMES = 2  # seconds


def traffic_meanwhile(lab):
    """Requests without end, most of which have to fail."""
    loop = (f"while :; do curl -s -o /dev/null --max-time 0.2 {URL_4IN4}/page; "
            f"curl -s -o /dev/null --max-time 0.2 '{URL_6IN6}/page'; done")
    return subprocess.Popen(inside(lab.settings, CLIENT.name, "sh", "-c", loop),
                            stdin=subprocess.DEVNULL, start_new_session=True)


def answers(lab, url):
    return subprocess.run(
        inside(lab.settings, CLIENT.name, "curl", "-s", "-f", "-o", "/dev/null", "--connect-timeout",
               "0.3", f"{url}/"), check=False).returncode == 0


def check_resumes(lab, what):
    deadline = time.monotonic() + RESUMES
    for url in (URL_4IN4, URL_6IN6):
        while not answers(lab, url):
            assert time.monotonic() < deadline, f"{what}: no answer from {url} in {RESUMES} s"


def flap(namespace, link):
    """Some at full speed, then a moment of traffic, and so on."""
    for _ in range(FLAPS // TOGETHER):
        ip_batch([f"link set {link} down", f"link set {link} up"] * TOGETHER, namespace)
        time.sleep(0.05)


def test_D09_links_that_flap(lab):
    """a link that goes down and up a hundred times at either end stops no worker, traffic resumes"""
    here, router = lab.settings.namespace(HOST.name), lab.settings.namespace(ROUTER)
    network.set_next_hops(lab.settings, [HOST.name])
    requests = traffic_meanwhile(lab)
    try:
        before = balancers.counters(lab.settings, HOST.name)
        flap(here, "eth0")
        check_resumes(lab, "the host's end")
        flap(router, HOST.link)
        # A router's own routes go with its link.
        network.set_next_hops(lab.settings, [HOST.name])
        check_resumes(lab, "the router's end")
        assert processes.is_running(lab.settings, f"penstockd-{HOST.name}"), "the daemon is gone"
        after = balancers.counters(lab.settings, HOST.name)
        assert after["forwarded"] > before["forwarded"], "nothing was forwarded meanwhile"
    finally:
        requests.kill()
        requests.wait()
        network.set_next_hops(lab.settings, [one.name for one in BALANCERS])
