"""Bytes from a hostile network and words from a mistaken operator: counted, refused, survived."""

import random
import socket

from scapy.all import IP, TCP, IPv6, Raw, raw

from penstock_lab import balancers, frames, network, processes, traffic
from penstock_lab.commands import run
from penstock_lab.settings import (BALANCERS, CLIENT, ROUTER, URL_4IN4, URL_6IN6, VIP4, VIP6,
                                   LabError)

TARGET = BALANCERS[0]
NOT_FOUND = 7
RANDOM_FRAMES = 2000


def send_from_router(lab, burst):
    """As the router's port would: raw frames on its end of the link to one penstock host."""
    with frames.port(lab.settings, ROUTER, TARGET.link) as port:
        for frame in burst:
            port.send(frame)


def addressed(lab, packet):
    return frames.to_balancer(lab.settings, TARGET, packet)


def syn4(**fields):
    return IP(**{**dict(src=CLIENT.address4, dst=VIP4), **fields}) / TCP(sport=1024, dport=80)


def syn6(**fields):
    return IPv6(**{**dict(src=CLIENT.address6, dst=VIP6), **fields}) / TCP(sport=1024, dport=80)


def malformed(lab):
    """(what it is, the counter it belongs to, frame), each wrong in one way."""
    good4, good6 = addressed(lab, syn4()), addressed(lab, syn6())
    yield "IPv4 header cut short", "drop_malformed_ipv4", good4[:14 + 12]
    yield "IPv6 header cut short", "drop_malformed_ipv6", good6[:14 + 30]
    yield "IPv4 TCP header cut short", "drop_malformed_transport", addressed(lab, IP(raw(syn4(len=30))[:30]))
    yield "IPv6 TCP header cut short", "drop_malformed_transport", addressed(lab, IPv6(raw(syn6(plen=10))[:50]))
    yield "IHL of 4", "drop_malformed_ipv4", addressed(lab, syn4(ihl=4))
    yield "IPv4 total length beyond the frame", "drop_malformed_ipv4", addressed(lab, syn4(len=400))
    yield "IPv6 payload length beyond the frame", "drop_malformed_ipv6", addressed(lab, syn6(plen=400))
    yield "wrong IPv4 checksum", "drop_ipv4_checksum", addressed(lab, syn4(chksum=0xdead))
    yield "TTL of 0", "drop_ttl_zero", addressed(lab, syn4(ttl=0))
    bad_offset = IP(src=CLIENT.address4, dst=VIP4) / TCP(sport=1024, dport=80, dataofs=3)
    yield "TCP data offset of 3", "drop_malformed_transport", addressed(lab, bad_offset)
    other_port = IP(src=CLIENT.address4, dst=VIP4) / TCP(sport=1024, dport=81)
    yield "no such service", "drop_no_service", addressed(lab, other_port)


def counted(lab):
    """{counter: value} of the host under attack."""
    return balancers.counters(lab.settings, TARGET.name)


def drops(lab):
    """Every counter of a drop; the name says why."""
    return {name: value for name, value in counted(lab).items() if name.startswith("drop_")}


def check_identity(lab):
    """Every received packet ended under exactly one name; polled, as packets go on arriving."""
    for _ in range(50):
        now = counted(lab)
        ends = sum(value for name, value in now.items() if name.startswith(
            ("drop_", "forwarded", "answered_", "learned_")))
        if now["received"] == ends:
            return
    raise AssertionError(f"received {now['received']}, accounted for {ends}")


def check_serves(lab):
    process = f"penstockd-{TARGET.name}"
    assert processes.is_running(lab.settings, process), "the daemon is gone"
    try:
        network.set_next_hops(lab.settings, [TARGET.name])
        for url in (URL_4IN4, URL_6IN6):
            traffic.spread(lab.settings, 20, url)
    finally:
        network.set_next_hops(lab.settings, [balancer.name for balancer in BALANCERS])


def test_malformed_frames(lab):
    """each kind of malformed frame is dropped under a name, and service goes on"""
    for what, name, frame in malformed(lab):
        before = drops(lab)
        send_from_router(lab, [frame] * 10)
        wait_for_drops(lab, before, name, 10)
        grown = drops(lab)[name] - before[name]
        assert grown == 10, f"{what}: sent 10, {name} rose by {grown}"
    check_serves(lab)


def wait_for_drops(lab, before, name, count):
    """Polls, because a packet ring hands over what it has after some milliseconds."""
    for _ in range(50):
        if drops(lab)[name] - before[name] >= count:
            return


def test_random_damage(lab):
    """2000 frames with random damage neither stop the daemon nor the service"""
    seed = random.randrange(2**32)
    source = random.Random(seed)
    originals = [addressed(lab, syn4() / Raw(b"x" * 100)), addressed(lab, syn6() / Raw(b"x" * 100))]
    damaged = []
    for _ in range(RANDOM_FRAMES):
        frame = bytearray(source.choice(originals))
        for _ in range(source.randint(1, 6)):
            frame[source.randrange(12, len(frame))] = source.randrange(256)
        damaged.append(bytes(frame[:source.randint(14, len(frame))]))
    before = counted(lab)["received"]
    send_from_router(lab, damaged)
    try:
        check_serves(lab)
        check_identity(lab)
        grown = counted(lab)["received"] - before
        assert grown >= RANDOM_FRAMES, f"sent {RANDOM_FRAMES}, received {grown}"
    except (AssertionError, LabError) as error:
        raise AssertionError(f"seed {seed}: {error}") from error


def refused(lab, *arguments):
    """Exit code and error of a command that must not work."""
    done = balancers.control(lab.settings, TARGET.name, *arguments, check=False)
    return done.returncode, done.stderr


def test_unknown_pool(lab):
    """an RPC for an unknown pool is refused with exit code 7 and changes nothing"""
    before = balancers.pools(lab.settings, TARGET.name)
    code, error = refused(lab, "backend", "drain", "nosuchpool", "10.3.1.2")
    assert code == NOT_FOUND and "nosuchpool" in error, f"exit {code}: {error}"
    assert balancers.pools(lab.settings, TARGET.name) == before


def test_unknown_backend(lab):
    """an RPC for an address that is no backend is refused with exit code 7"""
    code, error = refused(lab, "backend", "drain", "web", "192.0.2.99")
    assert code == NOT_FOUND and "192.0.2.99" in error, f"exit {code}: {error}"


def test_garbage_on_the_socket(lab):
    """bytes that are no RPC on the control socket do not disturb the daemon"""
    source = random.Random("garbage")  # the same bytes in each run
    for size in (0, 1, 24, 5000):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(lab.settings.socket(TARGET.name)))
            try:
                client.sendall(source.randbytes(size))
            except BrokenPipeError:
                continue
    assert balancers.control(lab.settings, TARGET.name, "status").returncode == 0


def test_unreachable(lab):
    """penstockctl exits 4 when nobody listens"""
    done = run(lab.settings.program("penstockctl"), "--target",
               f"unix:{lab.settings.directory}/nobody.sock", "status", check=False)
    assert done.returncode == 4, f"exit {done.returncode}: {done.stderr}"
