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
        self._frames = 0  # given to it since the last reset
        self.released: list[tuple[int, Outcome]] = []  # of frames held, by number from 0 on

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
        self._frames, self.released = 0, []

    def clock(self, milliseconds: int) -> None:
        self._outcomes(self.ask(f"clock {milliseconds}"))

    def take_released(self) -> list[tuple[int, Outcome]]:
        """Frames that were held and are no more, in order: since the last call, or reset."""
        released, self.released = self.released, []
        return released

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
        self._frames += len(frames)
        return self._outcomes(lines)

    def _outcomes(self, lines: list[str]) -> list[Outcome]:
        """Of the frames that came; those of frames that were held go to `released`."""
        outcomes: list[Outcome] = []
        sent: list[tuple[int, bytes]] = []
        for line in lines:
            if line.startswith("sent "):
                sent.append(_sent(line))
                continue
            sent = []
            if line.startswith("released "):
                _, number, verdict = line.split()
                self.released.append((int(number), (verdict, sent)))
            else:
                outcomes.append((line, sent))
        return outcomes


def _sent(line: str) -> tuple[int, bytes]:
    _, port, frame = line.split()
    return int(port), bytes.fromhex(frame)
