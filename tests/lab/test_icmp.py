"""What penstock answers itself: pings, but no floods, and nothing where it has no service."""

import random
import socket
import threading
import time

from scapy.all import IP, SCTP, TCP, UDP, IPv6, Raw

from penstock_lab import backends, balancers, frames, mtus, network, traffic
from penstock_lab.commands import ip_batch, run_in
from penstock_lab.settings import (BALANCERS, CLIENT, CLIENT_MTU, ROUTER, URL_4IN4, VIP4, VIP6)

PINGS = 2  # 10 a second are answered to one client
CLOSED_PORT = 9999
STRAYS = 50  # of each kind
ICMP_RATE = 1000  # penstockd's default
FLOOD_FRAMES, FLOOD_SECONDS = 20_000, 2
FLOOD_SOURCES = "198.18.0.0/15"  # RFC 2544: nobody's, and the router drops what goes there
FIRST = BALANCERS[0]


def ping(lab, address, size):
    done = run_in(lab.settings, CLIENT.name, "ping", "-q", "-c", PINGS, "-i", "0.2", "-W", "2",
                  "-s", size, address, check=False)
    # Expect: all answered; ping compares the payload, and reports a damaged one.
    assert done.returncode == 0 and f" {PINGS} received" in done.stdout and \
        "wrong" not in done.stdout, f"ping -s {size} {address}: {done.stdout}"


def test_I05_pings_are_answered(lab):
    """pings of the VIPs and the ports' own addresses are answered by penstock, small and large"""
    own = [address for one in BALANCERS for address in (one.address4, one.address6)]
    targets = [(address, size) for address in (VIP4, VIP6, *own) for size in (8, 1400)]
    before = balancers.counters_of_all(lab.settings)["answered_echo"]
    for address, size in targets:
        ping(lab, address, size)
    answered = balancers.counters_of_all(lab.settings)["answered_echo"] - before
    assert answered == PINGS * len(targets), f"{answered} answers, {PINGS * len(targets)} pings"


def strays():
    """One of each kind: a VIP, and a protocol or port that no service has."""
    for vip, source, ip in ((VIP4, CLIENT.address4, IP), (VIP6, CLIENT.address6, IPv6)):
        to_vip = ip(src=source, dst=vip)
        for port in (CLOSED_PORT, 1):
            yield to_vip / TCP(sport=1024, dport=port, flags="S")
        yield to_vip / UDP(sport=1024, dport=CLOSED_PORT) / Raw(b"?")
        yield to_vip / SCTP(sport=1024, dport=80) / Raw(b"?" * 20)


def expired(lab):
    """Packets that have lived too long, as the router counts them: what goes in a circle does."""
    router = network.kernel_counters(lab.settings, ROUTER)
    return router["IcmpOutTimeExcds"] + router["Icmp6OutTimeExcds"]


def wait_for(lab, name, value):
    """Polls a counter, because a packet ring hands over what it has after some milliseconds."""
    for _ in range(50):
        now = balancers.counters_of_all(lab.settings)
        if now[name] >= value:
            break
    return now


def is_from_vip(frame):
    return socket.inet_aton(VIP4) == frame[26:30] or socket.inet_pton(
        socket.AF_INET6, VIP6) == frame[22:38]


def test_I05_no_service_is_silent(lab):
    """a VIP without a service there answers nothing, and the packet goes no further"""
    burst = [frames.from_client(lab.settings, packet) for packet in strays()] * STRAYS
    before, late = balancers.counters_of_all(lab.settings), expired(lab)
    with frames.port(lab.settings, CLIENT.name, "eth0") as port:
        for frame in burst:
            port.send(frame)
        after = wait_for(lab, "drop_no_service", before["drop_no_service"] + len(burst))
        answers = [frame for frame in frames.heard(port) if is_from_vip(frame)]
    grown = after["drop_no_service"] - before["drop_no_service"]
    assert grown == len(burst), f"sent {len(burst)}, drop_no_service rose by {grown}"
    assert not answers, f"{len(answers)} answers, the first: {answers[0].hex()}"
    assert expired(lab) == late, "packets went in a circle until they expired"


def flood_frames(lab):
    """Full-size packets of as many invented clients. Checksums of TCP are not penstock's business,
    and that of IPv4 is made right by as much in `id` as the source adds."""
    packet = IP(src="198.18.0.0", dst=VIP4, flags="DF", id=0) / TCP(
        sport=1024, dport=80, flags="A") / Raw(b"f" * (CLIENT_MTU - 40))
    template = frames.to_balancer(lab.settings, FIRST, packet)
    for source in random.sample(range(0xFFFF), FLOOD_FRAMES):
        yield (template[:18] + (0xFFFF - source).to_bytes(2, "big") + template[20:28] +
               source.to_bytes(2, "big") + template[30:])


def send_flood(lab, flood):
    """At a steady pace: a burst would only show how long the ring is."""
    started = time.monotonic()
    with frames.port(lab.settings, ROUTER, FIRST.link) as port:
        for number, frame in enumerate(flood):
            ahead = number / FLOOD_FRAMES * FLOOD_SECONDS - (time.monotonic() - started)
            if ahead > 0.005:
                time.sleep(ahead)
            port.send(frame)


def upload_meanwhile(lab, flood):
    """The upload of an honest client in the middle of the flood; returns what is wrong with it."""
    attack = threading.Thread(target=send_flood, args=(lab, flood))
    attack.start()
    try:
        time.sleep(FLOOD_SECONDS / 4)
        process = traffic.start_upload(lab.settings, URL_4IN4, "honest", file="part", seconds=3)
        return traffic.finish_upload(lab.settings, process, "honest", file="part")[1]
    finally:
        attack.join()
        backends.forget_uploads(lab.settings)


def test_I07_flood_of_too_big_packets(lab):
    """a flood of too big packets is answered at the rate set, and starves no honest client"""
    flood = list(flood_frames(lab))
    router = lab.settings.namespace(ROUTER)
    names = [balancer.name for balancer in BALANCERS]
    with mtus.fabric_at(lab.settings, CLIENT_MTU):
        try:
            ip_batch([f"route add blackhole {FLOOD_SOURCES}"], router)
            network.set_next_hops(lab.settings, [FIRST.name])
            before, started = balancers.counters_of_all(lab.settings), time.monotonic()
            problem = upload_meanwhile(lab, flood)
            seconds = time.monotonic() - started
            after = balancers.counters_of_all(lab.settings)
        finally:
            network.set_next_hops(lab.settings, names)
            ip_batch([f"route del blackhole {FLOOD_SOURCES}"], router)
    assert not problem, problem
    answered = after["answered_too_big"] - before["answered_too_big"]
    silent = after["drop_too_big_limited"] - before["drop_too_big_limited"]
    # Expect: the flood arrived, and each second that it touched had its rate at most.
    assert 0 < answered <= ICMP_RATE * (int(seconds) + 2), f"{answered} answers in {seconds:.1f} s"
    assert silent > FLOOD_FRAMES / 2, f"only {silent} of {FLOOD_FRAMES} were not answered"
