"""GRE and GUE beside IP-in-IP: requests and uploads, in every pair of address families."""

from penstock_lab import backends, frames, traffic
from penstock_lab.settings import BACKENDS, FABRIC_MTU, GUE_66, ROUTER, TUNNELS

REQUESTS = 60
NAMES = [backend.name for backend in BACKENDS]
NOT_WRAPPED = ("passed",)
# Offsets in a frame of GUE over IPv6.
NEXT_HEADER, UDP_CHECKSUM = 14 + 6, slice(14 + 40 + 6, 14 + 40 + 8)
PROTOCOL_UDP = 17


def grown(before, after, backend):
    """{kind: packets} that were unwrapped meanwhile, other kinds left out."""
    kinds = {kind: value - before[backend][kind] for kind, value in after[backend].items()}
    return {kind: value for kind, value in kinds.items() if value and kind not in NOT_WRAPPED}


def check_requests(lab, tunnel):
    before = backends.decap_packets(lab.settings)
    counts = traffic.spread(lab.settings, REQUESTS, tunnel.url)
    after = backends.decap_packets(lab.settings)
    uneven = traffic.uneven(counts, NAMES)
    assert not uneven, f"{tunnel.kind}: {uneven}"
    for name in NAMES:
        kinds = grown(before, after, name)
        # Expect: at least SYN, ACK, request and FIN of each request, and nothing wrapped otherwise.
        assert kinds.get(tunnel.kind, 0) >= 4 * counts[name], f"{name}: {tunnel.kind}: {kinds}"
        assert list(kinds) == [tunnel.kind], f"{name}: more than {tunnel.kind}: {kinds}"


def test_requests(lab):
    """requests spread over the backends in GRE and in GUE, IPv4 and IPv6 in either"""
    for tunnel in TUNNELS:
        check_requests(lab, tunnel)


def upload(lab, tunnel):
    """Returns where it arrived, intact."""
    try:
        process = traffic.start_upload(lab.settings, tunnel.url, "wrapped")
        backend, problem = traffic.finish_upload(lab.settings, process, "wrapped")
    finally:
        backends.forget_uploads(lab.settings)
    assert not problem, f"{tunnel.kind}: {problem}"
    return backend


def test_upload_gue6(lab):
    """50 MB go up intact in GUE over IPv6, whose checksums the backend has verified"""
    before = backends.decap_packets(lab.settings)
    backend = upload(lab, GUE_66)
    kinds = grown(before, backends.decap_packets(lab.settings), backend)
    # Expect: every packet of the file in GUE, none malformed; a wrong checksum is.
    assert kinds[GUE_66.kind] > backends.FILES["blob"] / FABRIC_MTU, kinds
    assert list(kinds) == [GUE_66.kind], kinds


def test_gue6_checksums(lab):
    """no UDP checksum of GUE over IPv6 is zero, which a backend would not verify"""
    heard = []
    for backend in BACKENDS:
        with frames.port(lab.settings, ROUTER, backend.link) as port:
            traffic.spread(lab.settings, REQUESTS, GUE_66.url)
            heard += frames.heard(port)
    tunneled = [frame for frame in heard if frame[12:14] == b"\x86\xdd" and
                frame[NEXT_HEADER] == PROTOCOL_UDP]
    assert len(tunneled) > REQUESTS, f"only {len(tunneled)} packets heard"
    zero = sum(frame[UDP_CHECKSUM] == b"\0\0" for frame in tunneled)
    assert not zero, f"{zero} of {len(tunneled)} without a checksum"
