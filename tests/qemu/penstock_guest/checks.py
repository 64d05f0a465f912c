"""What is asked of every NIC."""

from penstock_lab import backends, traffic
from penstock_lab.settings import BACKENDS

from . import daemon
from .guest import wait_for

REQUESTS = 100


def check_requests(guest, url):
    before = backends.decap_packets(guest.settings)
    counts = traffic.spread(guest.settings, REQUESTS, url)
    after = backends.decap_packets(guest.settings)
    # Expect: every backend served some, and what came to it had been wrapped.
    assert set(counts) == {one.name for one in BACKENDS}, counts
    for name, served in counts.items():
        wrapped = sum(after[name].values()) - sum(before[name].values())
        assert wrapped >= 4 * served, f"{name} served {served} and unwrapped {wrapped} packets"


def check_upload(guest, url):
    try:
        upload = traffic.start_upload(guest.settings, url, "guest", file="five")
        _, problem = traffic.finish_upload(guest.settings, upload, "guest", file="five")
        assert not problem, problem
    finally:
        backends.forget_uploads(guest.settings)


def check_link(guest, nic, url):
    guest.set_link(nic, up=False)
    try:
        wait_for(lambda: not daemon.port(guest).get("linkUp"), 15, "status shows the link down")
    finally:
        guest.set_link(nic, up=True)
    wait_for(lambda: daemon.port(guest).get("linkUp"), 15, "status shows the link up again")
    # Expect: traffic goes on by itself.
    traffic.spread(guest.settings, 10, url)
