"""Packets that are too big once wrapped: the client learns its MTU, or the packet is cut."""

import collections
import contextlib
import hashlib
import random
import socket

from penstock_lab import backends, balancers, mtus, network, processes, traffic
from penstock_lab.commands import ip_batch
from penstock_lab.settings import (BACKENDS, BALANCERS, CLIENT, CLIENT_MTU, GUE_44, GUE_66, ROUTER,
                                   UDP_TUNNELS, URL_4IN4, URL_6IN6, VIP4, VIP6)

# A lost packet is repeated after 0.2 s and the file takes less than one; without an answer from
# penstock the upload never ends.
PROMPTLY = 5
# Inside GUE over IPv6 this leaves what every IPv6 host accepts as a path's MTU, 1280, and more.
NARROW_FABRIC, NARROW_ACCESS = 1400, 1300
# What RFC 2003, 2473 and GUE put in front.
IPIP4, IPIP6, GUE4, GUE6 = 20, 40, 32, 52
DOWNLOADS, ROUNDS = 20, 5
HEADERS = 20 + 8  # of IPv4 and UDP
# Of whole packets: small, the largest that passes uncut in IP-in-IP, one more, and a full one.
DATAGRAM_SIZES = (100, CLIENT_MTU - IPIP4, CLIENT_MTU - IPIP4 + 1, CLIENT_MTU)
DATAGRAMS = 80
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0  # linux/in.h: DF = 0
ICMP_ERRORS = "icmp[0] == 3 or (ip6 proto 58 and ip6[40] == 2)"


def check_upload(lab, url, vip, mtu):
    """An upload in full-size packets, and the MTU that the client then knows of the path."""
    mtus.forget(lab.settings, CLIENT)
    before = balancers.counters_of_all(lab.settings)["answered_too_big"]
    try:
        process = traffic.start_upload(lab.settings, url, "full", file="part", seconds=PROMPTLY)
        _, problem = traffic.finish_upload(lab.settings, process, "full", file="part")
    finally:
        backends.forget_uploads(lab.settings)
    assert not problem, f"{url}: {problem}"
    answers = balancers.counters_of_all(lab.settings)["answered_too_big"] - before
    assert answers > 0, f"{url}: nothing was too big, so nothing was tested"
    learned = mtus.of_path(lab.settings, CLIENT.name, vip)
    assert learned == mtu, f"{url}: the client has learned an MTU of {learned}, not {mtu}"


def test_E02_full_size_packets_are_answered(lab):
    """with 1500 bytes everywhere penstock warns, tells clients what fits, and uploads complete"""
    with mtus.fabric_at(lab.settings, CLIENT_MTU):
        log = processes.log_tail(lab.settings, f"penstockd-{BALANCERS[0].name}", lines=40)
        assert f"MTU {CLIENT_MTU} leaves {CLIENT_MTU - IPIP4} bytes" in log, f"no warning: {log}"
        check_upload(lab, URL_4IN4, VIP4, CLIENT_MTU - IPIP4)
        check_upload(lab, URL_6IN6, VIP6, CLIENT_MTU - IPIP6)
        check_upload(lab, GUE_44.url, VIP4, CLIENT_MTU - GUE4)
        check_upload(lab, GUE_66.url, VIP6, CLIENT_MTU - GUE6)


def test_narrow_fabric(lab):
    """a link of the fabric smaller than the port is learned from the router and told the client"""
    try:
        with mtus.router_at(lab.settings, BACKENDS, NARROW_FABRIC):
            for url, vip, overhead in ((URL_4IN4, VIP4, IPIP4), (URL_6IN6, VIP6, IPIP6),
                                       (GUE_66.url, VIP6, GUE6)):
                check_upload(lab, url, vip, NARROW_FABRIC - overhead)
        counted = balancers.counters_of_all(lab.settings)
        assert counted["learned_path_mtu"] > 0, counted
    finally:
        balancers.restart(lab.settings)  # else it would hold for ten minutes


def udp_socket(lab, name):
    with network.inside_namespace(lab.settings, name):
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    return opened


def receivers(lab, stack, port):
    opened = [stack.enter_context(udp_socket(lab, backend.name)) for backend in BACKENDS]
    for one in opened:
        one.bind((VIP4, port))
    return opened


def send_without_df(lab, port, datagrams):
    """Each from a port of its own, so that they spread."""
    for datagram in datagrams:
        with udp_socket(lab, CLIENT.name) as sender:
            sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
            sender.sendto(datagram, (VIP4, port))


def received(opened, count):
    """Polls, because packets take their time."""
    result = []
    for one in opened:
        one.settimeout(0.05)
    for _ in range(50):
        for one in opened:
            with contextlib.suppress(TimeoutError):
                while True:
                    result.append(one.recv(65536))
        if len(result) >= count:
            break
    return result


def reassembled(lab):
    """Datagrams that the backends' kernels have put together again."""
    return sum(network.kernel_counters(lab.settings, one.name)["IpReasmOKs"] for one in BACKENDS)


def digests(datagrams):
    return sorted((len(one), hashlib.sha256(one).hexdigest()) for one in datagrams)


def check_datagrams(lab, tunnel, overhead):
    sizes = [DATAGRAM_SIZES[n % len(DATAGRAM_SIZES)] for n in range(DATAGRAMS)]
    sent = [random.randbytes(size - HEADERS) for size in sizes]
    before = reassembled(lab)
    with contextlib.ExitStack() as stack:
        opened = receivers(lab, stack, tunnel.port)
        send_without_df(lab, tunnel.port, sent)
        got = received(opened, DATAGRAMS)
    assert digests(got) == digests(sent), f"{tunnel.kind}: {len(got)} of {len(sent)}, or damaged"
    cut = sum(size + overhead > CLIENT_MTU for size in sizes)
    whole = reassembled(lab) - before
    assert whole == cut, f"{tunnel.kind}: {cut} do not fit, {whole} came in fragments"


def check_tcp_without_df(lab):
    """A locked MTU makes the client's kernel clear DF and ignore what it is told."""
    route = f"{VIP4}/32 via {CLIENT.gateway4} mtu lock {CLIENT_MTU}"
    client = lab.settings.namespace(CLIENT.name)
    before = reassembled(lab)
    try:
        ip_batch([f"route add {route}"], client)
        process = traffic.start_upload(lab.settings, URL_4IN4, "cut", file="part", seconds=PROMPTLY)
        _, problem = traffic.finish_upload(lab.settings, process, "cut", file="part")
    finally:
        ip_batch([f"route del {route}"], client)
        backends.forget_uploads(lab.settings)
    assert not problem, problem
    fragmented = reassembled(lab) - before
    assert fragmented > backends.FILES["part"] / CLIENT_MTU, f"only {fragmented} packets were cut"


def test_without_df(lab):
    """IPv4 packets with DF = 0 are cut to size, and the backends put them together unharmed"""
    with mtus.fabric_at(lab.settings, CLIENT_MTU):
        before = balancers.counters_of_all(lab.settings)
        for tunnel, overhead in zip(UDP_TUNNELS, (IPIP4, GUE6)):
            check_datagrams(lab, tunnel, overhead)
        check_tcp_without_df(lab)
        after = balancers.counters_of_all(lab.settings)
    # Expect: nothing was answered instead of being cut.
    for name in ("answered_too_big", "drop_too_big", "drop_too_big_limited", "drop_no_buffer"):
        assert after[name] == before[name], f"{name} rose by {after[name] - before[name]}"


def errors_sent(lab):
    """By the router: "fragmentation needed" and "packet too big"."""
    router = network.kernel_counters(lab.settings, ROUTER)
    return router["IcmpOutDestUnreachs"] + router["Icmp6OutPktTooBigs"]


def errors_taken(lab):
    """(by the backends, of them about connections that the backend does not have)"""
    taken = strange = 0
    for backend in BACKENDS:
        one = network.kernel_counters(lab.settings, backend.name)
        taken += one["IcmpInDestUnreachs"] + one["Icmp6InPktTooBigs"]
        # A kernel that already knows the MTU sends such errors to itself, and counts them.
        taken -= one["IcmpOutDestUnreachs"] + one["Icmp6OutPktTooBigs"]
        strange += one["IcmpInErrors"] + one["Icmp6InErrors"]
    return taken, strange


def wait_for_errors(lab, count):
    """Polls: the last ones may still be on their way."""
    for _ in range(20):
        taken, strange = errors_taken(lab)
        if taken >= count:
            break
    return taken, strange


def download_at_once(lab):
    """Many over IPv4 and as many over IPv6: {penstock host: errors that came to it}."""
    mtus.forget(lab.settings, *BACKENDS)
    names = {"down4": URL_4IN4, "down6": URL_6IN6}
    with traffic.captured(lab.settings, ICMP_ERRORS) as packets:
        running = {name: traffic.start_downloads(lab.settings, DOWNLOADS, url, "/page", name,
                                                 PROMPTLY) for name, url in names.items()}
        try:
            for name, process in running.items():
                _, problem = traffic.finish_downloads(lab.settings, process, DOWNLOADS, "/page",
                                                      name)
                assert not problem, f"{name}: {problem}"
        finally:
            for process in running.values():
                process.kill()
        return packets()


def download_through_both(lab):
    """The router spreads its few errors by chance, so both hosts may take more than one round."""
    seen = collections.Counter()
    for _ in range(ROUNDS):
        seen.update(download_at_once(lab))
        if all(seen[balancer.name] for balancer in BALANCERS):
            return
    raise AssertionError(f"in {ROUNDS} rounds errors came to {dict(seen)} only")


def test_I02_errors_reach_the_flows_backend(lab):
    """a narrow link to the client: each error of the router reaches the backend of its flow"""
    before = balancers.counters_of_all(lab.settings)
    sent, (taken, strange) = errors_sent(lab), errors_taken(lab)
    with mtus.router_at(lab.settings, [CLIENT], NARROW_ACCESS):
        download_through_both(lab)
        known = {mtus.of_path(lab.settings, one.name, address) for one in BACKENDS
                 for address in (CLIENT.address4, CLIENT.address6)}
    sent = errors_sent(lab) - sent
    # Expect: every error is taken, none by a backend that does not have the connection.
    assert wait_for_errors(lab, taken + sent) == (taken + sent, strange), \
        f"{sent} errors sent; taken before {taken, strange}, now {errors_taken(lab)}"
    assert known == {NARROW_ACCESS}, f"MTUs that the backends know: {known}"
    after = balancers.counters_of_all(lab.settings)
    for name in (one for one in after if one.startswith("drop_icmp_")):
        assert after[name] == before[name], f"{name} rose by {after[name] - before[name]}"
