"""Frames by hand: what no kernel would send, and what passes on a link as it is."""

import contextlib
import socket

from scapy.all import Ether, raw

from . import network
from .settings import CLIENT, ROUTER

_ALL_PROTOCOLS = 0x0003  # ETH_P_ALL, linux/if_ether.h
_FRAME_ROOM = 65536


@contextlib.contextmanager
def port(settings, name, link):
    """A raw socket on a link of the namespace: sends frames, and hears all that pass either way."""
    with network.inside_namespace(settings, name):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        opened.bind((link, _ALL_PROTOCOLS))
    with opened:
        yield opened


def heard(opened):
    """The frames that a port has heard and not given yet."""
    result = []
    with contextlib.suppress(BlockingIOError):
        while True:
            result.append(opened.recv(_FRAME_ROOM, socket.MSG_DONTWAIT))
    return result


def to_balancer(settings, balancer, packet):
    """The frame in which the router would send this scapy packet to a penstock host."""
    return _framed(packet, mac_of(settings, ROUTER, balancer.link), mac_of(settings, balancer.name))


def from_client(settings, packet):
    return _framed(packet, mac_of(settings, CLIENT.name), mac_of(settings, ROUTER, CLIENT.link))


def mac_of(settings, name, link="eth0"):
    with port(settings, name, link) as opened:
        return opened.getsockname()[4].hex(":")


def _framed(packet, source, destination):
    ethertype = 0x0800 if packet.version == 4 else 0x86DD
    return raw(Ether(src=source, dst=destination, type=ethertype) / packet)
