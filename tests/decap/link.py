"""A veth pair between two namespaces of this test, with a raw socket at both ends."""

import contextlib
import ctypes
import os
import socket
import subprocess

ETH_P_ALL = 3
PACKET_OUTGOING = 4
CLONE_NEWNET = 0x40000000
SENTINEL_ETHERTYPE = b"\x88\xb5"  # reserved for local experiments by IEEE 802
SENTINEL_BYTES = 60
MTU = 1600

libc = ctypes.CDLL(None, use_errno=True)


def run(*command, check=True):
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done


@contextlib.contextmanager
def inside(namespace):
    """Sockets opened in this block belong to the namespace, also after it."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        yield
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(there)
        os.close(home)


class Link:
    """`sender` and `receiver` are namespaces; both ends are called eth0 and carry no address."""

    def __init__(self):
        self.sender = f"penstock-decap-{os.getpid()}-tx"
        self.receiver = f"penstock-decap-{os.getpid()}-rx"
        self.sent = 0

    def __enter__(self):
        for namespace in (self.sender, self.receiver):
            run("ip", "netns", "add", namespace)
            run("ip", "netns", "exec", namespace, "sysctl", "-qw",
                "net.ipv6.conf.default.disable_ipv6=1")
        run("ip", "link", "add", "eth0", "netns", self.sender, "type", "veth",
            "peer", "name", "eth0", "netns", self.receiver)
        self.set_mtu(MTU)
        self.tx = self._open(self.sender)
        self.rx = self._open(self.receiver)
        self.rx.settimeout(2)
        self.mac = self._mac(self.receiver)
        self.peer_mac = self._mac(self.sender)
        return self

    def __exit__(self, *_):
        for namespace in (self.sender, self.receiver):
            run("ip", "netns", "del", namespace, check=False)

    @staticmethod
    def _open(namespace):
        with inside(namespace):
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            raw.bind(("eth0", ETH_P_ALL))
        return raw

    @staticmethod
    def _mac(namespace):
        text = run("ip", "netns", "exec", namespace, "cat", "/sys/class/net/eth0/address").stdout
        return text.strip()

    def set_mtu(self, mtu):
        for namespace in (self.sender, self.receiver):
            run("ip", "-n", namespace, "link", "set", "eth0", "mtu", str(mtu), "up")

    def exec(self, *command):
        return run("ip", "netns", "exec", self.receiver, *command, check=False)

    def deliver(self, frame):
        """Sends one frame; returns the frames the receiving kernel got for it."""
        self.tx.send(frame)
        self.sent += 1
        # One queue, one order: what arrives before the sentinel belongs to the frame.
        sentinel = b"\xff" * 6 + frame[6:12] + SENTINEL_ETHERTYPE
        sentinel += self.sent.to_bytes(SENTINEL_BYTES - len(sentinel), "big")
        self.tx.send(sentinel)
        seen = []
        while True:
            data, address = self.rx.recvfrom(65536)
            if address[2] == PACKET_OUTGOING:
                continue
            if data == sentinel:
                return seen
            seen.append(data)
