"""Long connections of the client: each from a port that the test chooses, slowed down, and watched.

Uploads send a little at a time, downloads read a little at a time, so that packets of each pass
penstock all the time: data of the one kind, acknowledgements and window updates of the other.
"""

import contextlib
import hashlib
import socket
import struct
import threading
import time

from . import backends, network
from .settings import BACKENDS, CLIENT, VIP4

FILE = "long"
_PIECE = 4000  # bytes at a time
_PERIOD = 0.2  # seconds from one to the next
# Less than that in flight, so that a download which goes on has been acknowledged.
_RECEIVE_BUFFER = 4096
_ADVANCE = 4500  # bytes; more than can be under way when a wait begins
_TCP_INFO_BYTES = struct.Struct("=120xQQ")  # bytes_acked, bytes_received (linux/tcp.h)
_CLOSED = "closed by the backend"


class _Connection:
    """One of them. `problem` is empty until it breaks."""

    def __init__(self, number, port, opened):
        self.number, self.port, self.socket = number, port, opened
        self.problem = ""
        self.done = False

    @property
    def ended(self):
        return self.done or bool(self.problem)

    def step(self, amount):
        """Moves up to `amount` bytes. Returns whether any have moved."""
        if self.ended:
            return False
        try:
            return self._step(amount)
        except BlockingIOError:
            return False
        except OSError as error:
            self.problem = error.strerror
            return False

    def _info(self):
        try:
            info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        except OSError:
            return 0, 0
        return _TCP_INFO_BYTES.unpack_from(info)


class Upload(_Connection):
    """PUT of the file. The answer comes after its last byte; anything earlier is the end of it."""

    def __init__(self, number, port, opened, content):
        super().__init__(number, port, opened)
        head = f"PUT /up/{self.name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" \
               f"Content-Length: {len(content)}\r\n\r\n"
        self._rest = memoryview(head.encode() + content)
        self._answer = b""

    @property
    def name(self):
        return f"long-{self.port}"

    def passed(self):
        return self._info()[0]

    def _step(self, amount):
        with contextlib.suppress(BlockingIOError):
            self._answer += self._received()
            if self._answer.startswith(b"HTTP/1.1 201") and not self._rest:
                self.done = True
                return False
        if not self._rest:
            return False
        self._rest = self._rest[self.socket.send(self._rest[:amount]):]
        return True

    def _received(self):
        data = self.socket.recv(4096)
        if not data:
            self.problem = _CLOSED
        elif self._rest:
            self.problem = f"answered too early: {data[:40]}"
        return data

    def check(self, settings, backend, wanted):
        stored = backends.uploads(settings, self.name)
        if list(stored) != [backend]:
            self.problem = f"stored on {sorted(stored)}"
        elif backends.sha256(stored[backend]) != wanted:
            self.problem = "wrong sha256"


class Download(_Connection):
    """GET of the file, read as slowly as an upload is sent."""

    def __init__(self, number, port, opened, content):
        super().__init__(number, port, opened)
        self._size = len(content)
        self._body = None
        self._head = b""
        opened.send(f"GET /{FILE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())

    def passed(self):
        return self._info()[1]

    def _step(self, amount):
        data = self.socket.recv(amount)
        if not data:
            self.problem = _CLOSED
        elif self._body is None:
            self._head += data
            if b"\r\n\r\n" in self._head:
                self._body = bytearray(self._head.partition(b"\r\n\r\n")[2])
        else:
            self._body += data
        self.done = self._body is not None and len(self._body) >= self._size
        return True

    def check(self, _, __, wanted):
        if hashlib.sha256(self._body).hexdigest() != wanted:
            self.problem = "wrong sha256"


class LongConnections:
    """A context: they run in a thread of their own from `open` until `finish` or the end of the
    context, which resets those that still run, and all connections at the backends: one whose
    packets went elsewhere does not know that its client is gone."""

    def __init__(self, settings):
        self._settings = settings
        self._content = backends.shared_file(settings, FILE).read_bytes()
        self._all = []
        self._backend_of = {}  # port: name, of those that are open
        self._finishing = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        for one in self._all:
            if one.socket.fileno() < 0:
                continue
            one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.socket.close()
        backends.reset_connections(self._settings)
        backends.forget_uploads(self._settings)

    def open(self, ports, kinds=(Upload, Download)):
        """Opens one from each port, of these kinds in turn; returns once each has been forwarded
        for a while."""
        for number, port in enumerate(ports):
            kind = kinds[number % len(kinds)]
            one = kind(len(self._all), port, self._connect(port), self._content)
            one.socket.setblocking(False)
            self._all.append(one)
        self._learn_backends(set(ports))
        self.wait_for_progress(ports)

    def backend_of(self, port):
        return self._backend_of[port]

    def ports_of(self, backend):
        return {port for port, name in self._backend_of.items() if name == backend}

    def broken(self):
        """{port: what happened} of all that have broken so far."""
        return {one.port: one.problem for one in list(self._all) if one.problem}

    def wait_for_progress(self, ports=None, seconds=8.0):
        """Returns once each that is not broken (of these ports) has got further than what was
        under way, or raises an AssertionError that names those that stand still."""
        wanted = [one for one in self._all if ports is None or one.port in ports]
        begun = {one.port: one.passed() for one in wanted}
        deadline = time.monotonic() + seconds
        while True:
            wanted = [one for one in wanted
                      if not one.ended and one.passed() - begun[one.port] < _ADVANCE]
            if not wanted:
                return
            still = [(one.port, type(one).__name__, self._backend_of.get(one.port))
                     for one in wanted]
            assert time.monotonic() < deadline, f"{len(still)} stand still: {still[:5]}"
            time.sleep(0.05)

    def finish(self, ports=None, seconds=30.0):
        """Lets these (default: all) run at full speed to their end, and checks what arrived: the
        problems are in `broken` then."""
        wanted = [one for one in self._all if ports is None or one.port in ports]
        self._finishing |= {one.port for one in wanted}
        deadline = time.monotonic() + seconds
        while any(not one.ended for one in wanted):
            assert time.monotonic() < deadline, f"{sum(not one.ended for one in wanted)} never end"
            time.sleep(0.02)
        right = hashlib.sha256(self._content).hexdigest()
        for one in wanted:
            one.socket.close()
            if one.done:
                one.check(self._settings, self._backend_of[one.port], right)

    def _connect(self, port):
        with network.inside_namespace(self._settings, CLIENT.name):
            opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        opened.settimeout(5)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.bind((CLIENT.address4, port))
        opened.connect((VIP4, 80))
        return opened

    def _learn_backends(self, ports):
        for backend in BACKENDS:
            for peer in backends.connections(self._settings, backend.name):
                port = int(peer.rpartition(":")[2])
                if port in ports:
                    self._backend_of[port] = backend.name
        missing = ports - self._backend_of.keys()
        assert not missing, f"connections from {sorted(missing)} are at no backend"

    def _run(self):
        """Each at a phase of its own, so that they do not all send at once."""
        turn = 0
        while not self._stop.is_set():
            turn += 1
            moved = False
            for one in list(self._all):
                if one.port in self._finishing:
                    moved |= one.step(65536)
                elif one.number % 10 == turn % 10:
                    one.step(_PIECE)
            if self._finishing and moved:
                continue  # as fast as the connections go
            self._stop.wait(_PERIOD / 10)
