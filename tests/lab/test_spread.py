"""New connections spread over the backends, in every pair of address families."""

from penstock_lab.backends import decap_packets
from penstock_lab.settings import BACKENDS, URL_4IN4, URL_4IN6, URL_6IN4, URL_6IN6
from penstock_lab.traffic import spread, uneven

REQUESTS = 300
NAMES = [backend.name for backend in BACKENDS]
WRAPPED = ("ipip_4in4", "ipip_6in4", "ipip_4in6", "ipip_6in6", "malformed", "ecn_drop")


def check(lab, url, kind):
    before = decap_packets(lab.settings)
    counts = spread(lab.settings, REQUESTS, url)
    after = decap_packets(lab.settings)
    # Expect: even within five standard deviations, so one run in a million is wrong by chance.
    assert not uneven(counts, NAMES), uneven(counts, NAMES)
    for name in NAMES:
        grown = {one: after[name][one] - before[name][one] for one in WRAPPED}
        # Expect: at least SYN, ACK, request and FIN of each request came in this encapsulation.
        assert grown.pop(kind) >= 4 * counts[name], f"{name}: too few {kind}: {after[name]}"
        assert not any(grown.values()), f"{name}: other encapsulations than {kind}: {grown}"


def test_4in4(lab):
    """an IPv4 VIP with IPv4 backends spreads evenly, wrapped in IPv4"""
    check(lab, URL_4IN4, "ipip_4in4")


def test_6in6(lab):
    """an IPv6 VIP with IPv6 backends spreads evenly, wrapped in IPv6"""
    check(lab, URL_6IN6, "ipip_6in6")


def test_4in6(lab):
    """an IPv4 VIP with IPv6 backends spreads evenly, wrapped in IPv6"""
    check(lab, URL_4IN6, "ipip_4in6")


def test_6in4(lab):
    """an IPv6 VIP with IPv4 backends spreads evenly, wrapped in IPv4"""
    check(lab, URL_6IN4, "ipip_6in4")
