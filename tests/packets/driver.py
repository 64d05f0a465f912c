"""Talks to packet_driver, the packet path without devices."""

import pathlib
import subprocess

Outcome = tuple[str, list[tuple[int, bytes]]]  # verdict, and (port, frame) for each frame sent


class Driver:
    """One process; `host` and `services` are YAML files."""

    def __init__(self, build: pathlib.Path, host, services, tamper: str = ""):
        command = [build / "bin" / "packet_driver", "--host", host, "--services", services]
        if tamper:
            command += ["--tamper", tamper]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)

    def close(self) -> None:
        self._process.stdin.close()
        code = self._process.wait(20)
        self._process.stdout.close()
        if code != 0:
            raise RuntimeError(f"packet_driver ended with {code}")

    def ask(self, *commands: str) -> list[str]:
        """Lines of the answer to the last command; those before it must answer nothing."""
        self._process.stdin.write("".join(f"{command}\n" for command in commands))
        self._process.stdin.flush()
        lines = []
        while (line := self._process.stdout.readline().rstrip("\n")) != "end":
            if not line and self._process.poll() is not None:
                raise RuntimeError(f"packet_driver ended with {self._process.returncode} at "
                                   f"{commands[-1][:200]}")
            lines.append(line)
        return lines

    def reset(self) -> None:
        self.ask("reset")

    def clock(self, seconds: int) -> None:
        self.ask(f"clock {seconds}")

    def apply(self, services) -> None:
        answer = self.ask(f"apply {services}")
        if answer != ["ok"]:
            raise RuntimeError(f"{services}: {answer}")

    def solicit(self) -> list[bytes]:
        return [frame for _, frame in map(_sent, self.ask("solicit"))]

    def run(self, frames: list[tuple]) -> list[Outcome]:
        """`frames`: (port, headroom, flags, bytes), at most 32, as one burst."""
        lines = self.ask(*(f"frame {port} {headroom} {flags} {frame.hex() or '-'}"
                           for port, headroom, flags, frame in frames), "run")
        outcomes: list[Outcome] = []
        for line in lines:
            if line.startswith("sent "):
                outcomes[-1][1].append(_sent(line))
            else:
                outcomes.append((line, []))
        return outcomes


def _sent(line: str) -> tuple[int, bytes]:
    _, port, frame = line.split()
    return int(port), bytes.fromhex(frame)
