"""The two sockets of a running guest: a shell on its serial line, and QEMU's own monitor."""

import json
import re
import socket
import time

from penstock_lab import LabError

_END = re.compile(rb"(?:^|\n)@@ (\d+)\n$")


def connect(path, timeout=10.0):
    """A stream to QEMU's socket, which appears a moment after QEMU starts."""
    deadline = time.monotonic() + timeout
    while True:
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(str(path))
            return stream
        except OSError as error:
            stream.close()
            if time.monotonic() > deadline:
                raise LabError(f"no connection to {path}: {error}") from None
            time.sleep(0.02)


class Shell:
    """Runs commands, one after another. The protocol is that of the guest's init."""

    def __init__(self, path):
        self._stream = connect(path)

    def wait_ready(self, timeout):
        self._answer("the guest's start", timeout)

    def run(self, command, timeout):
        """Returns (exit code, output)."""
        assert "\n" not in command
        self._stream.sendall(command.encode() + b"\n")
        return self._answer(command, timeout)

    def _answer(self, what, timeout):
        deadline = time.monotonic() + timeout
        answer = b""
        while (end := _END.search(answer)) is None:
            self._stream.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                piece = self._stream.recv(65536)
            except TimeoutError:
                raise LabError(f"no end after {timeout} s: {what}: {answer[-300:]}") from None
            if not piece:
                raise LabError(f"the guest ended during: {what}: {answer[-300:]}")
            answer += piece
        return int(end[1]), answer[:end.start()].decode(errors="replace")


class Monitor:
    """QEMU's machine protocol: one JSON object a line."""

    def __init__(self, path):
        self._stream = connect(path)
        self._stream.settimeout(20)
        self._lines = self._stream.makefile("r", encoding="utf-8")
        self._lines.readline()  # the greeting
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        request = {"execute": command, "arguments": arguments}
        self._stream.sendall(json.dumps(request).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                raise LabError(f"QEMU: {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise LabError(f"QEMU ended during {command}")
