"""AF_XDP: an interface with two queues as two ports, one for each queue."""

from penstock_lab import backends, traffic, variants
from penstock_lab.commands import ip_batch, run
from penstock_lab.settings import BACKENDS, BALANCERS, URL_4IN4, URL_6IN6

HOST = BALANCERS[0]
QUEUES = 2
REQUESTS = 60
FLAPS = 5


def two_queues(lab):
    """The kernel chooses the queue, for ARP too, so both ports are the same but for their queue."""
    ports = [variants.port(HOST, f"net_af_xdp{n},iface=eth0,start_queue={n},queue_count=1", f"q{n}")
             for n in range(QUEUES)]
    return variants.running(lab.settings, HOST, [0], ports)


def without_program(lab):
    """The program that fills the sockets stays at the link, for a daemon that comes back."""
    run("ip", "-n", lab.settings.namespace(HOST.name), "link", "set", "eth0", "xdp", "off",
        check=False)


def check_serves(lab):
    for url in (URL_4IN4, URL_6IN6):
        counts = traffic.spread(lab.settings, REQUESTS, url)
        assert set(counts) == {backend.name for backend in BACKENDS}, f"{url}: {counts}"


def test_two_queues_as_two_ports(lab):
    """requests, an upload and links that flap: two AF_XDP ports on the queues of one interface"""
    try:
        with two_queues(lab):
            before = variants.workers(lab.settings, HOST)
            check_serves(lab)
            worker = variants.grown(before, variants.workers(lab.settings, HOST))[0]
            # Expect: both queues had packets to forward; all left through the first port.
            assert all(worker[f"q{n}"]["forwarded"] > 0 for n in range(QUEUES)), worker
            assert worker["q0"]["transmitted"] >= sum(
                worker[f"q{n}"]["forwarded"] for n in range(QUEUES)), worker
            try:
                upload = traffic.start_upload(lab.settings, URL_6IN6, "xdp", file="part")
                _, problem = traffic.finish_upload(lab.settings, upload, "xdp", file="part")
                assert not problem, problem
            finally:
                backends.forget_uploads(lab.settings)
            ip_batch(["link set eth0 down", "link set eth0 up"] * FLAPS,
                     lab.settings.namespace(HOST.name))
            check_serves(lab)
            variants.check_sums(lab.settings, HOST)
    finally:
        without_program(lab)
