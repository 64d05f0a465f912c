"""An emulated Intel 82574L: a NIC with two queues, of which it fills one."""

from penstock_guest import daemon
from penstock_guest.checks import check_link, check_requests, check_upload
from penstock_guest.guest import E1000E
from penstock_lab.settings import URL_4IN4, URL_6IN6


def test_unbound(guest):
    """a NIC that is not bound to vfio-pci is refused, and the message says how to bind it"""
    code, output = daemon.refusal(guest, "e1000e")
    assert code != 0, output
    assert f"dpdk-devbind.py --bind=vfio-pci {E1000E.device}" in output, output


def test_D03_too_many_workers(guest):
    """more workers than the NIC has queues are refused, with the numbers and the key to change"""
    guest.bind(E1000E)
    code, output = daemon.refusal(guest, "e1000e-three-workers")
    assert code != 0, output
    for part in ("3 workers need 3 queues", "has 2 for receiving", "dataplane.workers"):
        assert part in output, f"no {part!r} in: {output}"


def test_D04_no_spread(guest):
    """a NIC that does not fill the queues of all workers is used, and the log warns of it"""
    daemon.ensure(guest, "e1000e-two-workers", E1000E)
    assert "net_e1000_em has no receive side scaling" in daemon.log(guest), daemon.log(guest)
    check_requests(guest, URL_4IN4)
    workers = daemon.flows(guest)
    # Expect: as it was said.
    assert workers[0][0] >= 100 and workers[1] == (0, 0), workers


def test_status(guest):
    """penstockd drives the NIC by its PCI address through vfio-pci"""
    daemon.ensure(guest, "e1000e", E1000E)
    port = daemon.port(guest)
    assert (port["device"], port["driver"]) == (E1000E.device, "net_e1000_em"), port
    assert port["linkUp"] and port["linkSpeedMbps"] == 1000, port


def test_requests_v4(guest):
    """requests over IPv4 are answered"""
    daemon.ensure(guest, "e1000e", E1000E)
    check_requests(guest, URL_4IN4)


def test_requests_v6(guest):
    """requests over IPv6 are answered"""
    daemon.ensure(guest, "e1000e", E1000E)
    check_requests(guest, URL_6IN6)


def test_upload(guest):
    """5 MB in full-sized packets go up intact"""
    daemon.ensure(guest, "e1000e", E1000E)
    check_upload(guest, URL_4IN4)


def test_link(guest):
    """a link that goes down and comes up shows in the status, and traffic goes on"""
    daemon.ensure(guest, "e1000e", E1000E)
    check_link(guest, E1000E, URL_4IN4)
