"""Reads packet cases: text files of described steps, each a frame in, a verdict, frames out.

    services: basic                  set-up of the cases that follow (setups/basic.services.yaml)
    host: plain                      likewise (setups/plain.host.yaml)

    case P06 padding is cut
      A sentence or two: what, and whose rule it is.
      packet: IP(src=CLIENT4, dst=VIP4) / TCP(sport=40000, dport=80, flags="A")
      in: padded(ETH / PACKET)       left out: ETH / PACKET
      verdict: forwarded
      out: OUT / ipip4(PACKET)       one line a frame; left out: nothing is sent

Values are Python expressions in the words of words.py; lines that are indented further go on. More
steps: another `packet` or `in` behind a verdict. Further keys of a step:

      with: port=1, headroom=16, flags="multi_segment"
      wait: 5                        seconds pass before it
      apply: drained                 other services are applied before it

and of a case: `each: TOS in (0, 1, 2)` repeats it for each value; `burst: yes` has its frames come
as one burst; `driver only: REASON` when it cannot run end to end.
"""

import collections
import dataclasses
import pathlib
import re

from scapy.all import raw

import words

HERE = pathlib.Path(__file__).parent
KEY = re.compile(r"  (in|packet|verdict|out|with|wait|apply|each|burst|driver only|host|services)"
                 r": (.*)")
STEP_KEYS = ("with", "wait", "apply")


@dataclasses.dataclass
class Step:
    """One frame and what becomes of it."""

    frame: bytes = b""
    verdict: str = ""
    out: list[bytes] = dataclasses.field(default_factory=list)
    port: int = 0  # where it comes in, and where frames leave
    headroom: int = 128  # bytes in front of the frame in its buffer
    flags: str = "-"  # names of driver.cc
    buffers: int | None = None  # for fragments; None: enough
    times: int = 1  # how often it comes, with the same outcome
    out_port: int | None = None  # None: `port`
    wait: int = 0  # seconds before it
    apply: str = ""  # services to change to before it


@dataclasses.dataclass
class Case:
    name: str
    place: str  # file:line
    text: str
    host: str
    services: str
    driver_only: str  # a reason, or empty
    burst: bool  # all steps at once
    steps: list[Step]


class CaseError(Exception):
    """A case that cannot be understood; says where."""


def _split(lines, path):
    """(line number, key, value) of each line. Keys besides those of KEY: "case", "text", "more" for
    what goes on, "default host" and "default services" for settings of the cases that follow."""
    for number, line in enumerate(lines, 1):
        match = KEY.fullmatch(line)
        if not line.strip() or line.startswith("#"):
            continue
        if re.match(r"(host|services): ", line):
            key, value = line.split(": ", 1)
            yield number, f"default {key}", value
        elif line.startswith("case "):
            yield number, "case", line[5:].strip()
        elif match:
            yield number, match[1], match[2]
        elif line.startswith("    "):
            yield number, "more", line.strip()
        elif line.startswith("  "):
            yield number, "text", line.strip()
        else:
            raise CaseError(f"{path}:{number}: neither a key nor indented: {line}")


def _entries(path):
    """As _split, with continued lines joined."""
    pending = None
    for number, key, value in _split(path.read_text().splitlines(), path):
        if key == "more":
            pending = (pending[0], pending[1], f"{pending[2]} {value}")
            continue
        if pending:
            yield pending
        pending = (number, key, value)
    if pending:
        yield pending


def _evaluate(expression, names, place):
    try:
        return eval(expression, {**vars(words), **names})  # pylint: disable=eval-used
    except Exception as error:
        raise CaseError(f"{place}: {expression}: {type(error).__name__}: {error}") from error


class _Builder:
    """Steps of one case for one value of its `each`."""

    def __init__(self, names):
        self.names = dict(names)
        self.steps = []
        self.step = None
        self.has_frame = False

    def add(self, key, value, place):
        if key in ("in", "packet", *STEP_KEYS) and (self.step is None or self.step.verdict):
            self.step = Step()
            self.steps.append(self.step)
            self.has_frame = False
        if self.step is None:
            raise CaseError(f"{place}: {key} before any packet")
        if key == "packet":
            self.names["PACKET"] = _evaluate(value, self.names, place)
        elif key == "in":
            self.step.frame = raw(_evaluate(value, self.names, place))
            self.has_frame = True
        elif key == "verdict":
            if not self.has_frame:
                self.step.frame = raw(_evaluate("ETH / PACKET", self.names, place))
            self.step.verdict = value
        elif key == "out":
            self.step.out.append(raw(_evaluate(value, self.names, place)))
        elif key == "with":
            for name, setting in _evaluate(f"dict({value})", self.names, place).items():
                setattr(self.step, name, setting)
        elif key == "wait":
            self.step.wait = _evaluate(value, self.names, place)
        elif key == "apply":
            self.step.apply = value


def _build(head, entries, path):
    """Cases of one `case` entry: one, or one for each value."""
    settings = dict(head["settings"])
    text, driver_only, each, steps, burst = [], "", None, [], False
    for number, key, value in entries:
        if key in ("host", "services"):
            settings[key] = value
        elif key == "text":
            if steps:
                raise CaseError(f"{path.name}:{number}: no key is called so: {value}")
            text.append(value)
        elif key == "driver only":
            driver_only = value
        elif key == "burst":
            burst = True
        elif key == "each":
            each = value.split(" in ", 1)
        else:
            steps.append((number, key, value))
    place = f"{path.name}:{head['line']}"
    values = _evaluate(each[1], {}, place) if each else [None]
    if not text or not steps:
        raise CaseError(f"{place}: a case needs a sentence and a step")
    for value in values:
        builder = _Builder({each[0]: value} if each else {})
        for number, key, expression in steps:
            builder.add(key, expression, f"{path.name}:{number}")
        name = head["name"] + (f" [{each[0]}={value}]" if each else "")
        yield Case(name, place, " ".join(text), settings["host"], settings["services"],
                   driver_only, burst,
                   [step for step in builder.steps for _ in range(step.times)])


def _check(case):
    for step in case.steps:
        if not step.verdict:
            raise CaseError(f"{case.place}: {case.name}: a step without a verdict")
        special = (step.wait or step.apply or step.buffers is not None or step.headroom != 128 or
                   step.flags != "-")
        if special and not case.driver_only:
            raise CaseError(f"{case.place}: {case.name}: say why it is `driver only:`")
        if step.verdict in ("forwarded", "answered_echo", "answered_too_big") and not step.out:
            raise CaseError(f"{case.place}: {case.name}: {step.verdict} and nothing sent?")
    return case


def read_cases(path):
    """All cases of a file."""
    settings, heads, body = {}, [], []
    for number, key, value in _entries(path):
        if key == "case":
            head, body = {"name": value, "line": number, "settings": dict(settings)}, []
            heads.append((head, body))
        elif key.startswith("default "):
            settings[key.removeprefix("default ")] = value
        else:
            body.append((number, key, value))
    found = [case for head, body in heads for case in _build(head, body, path)]
    return [_check(case) for case in found]


def all_cases(pattern=""):
    """The cases of every file, in order; only those whose file or name holds `pattern`."""
    found = [case for path in sorted(HERE.glob("cases/*.txt")) for case in read_cases(path)]
    twice = [name for name, n in collections.Counter(case.name for case in found).items() if n > 1]
    if twice:
        raise CaseError(f"two cases of one name: {twice}")
    return [case for case in found if pattern in f"{case.place} {case.name}"]


def host_file(name):
    return HERE / "setups" / f"{name}.host.yaml"


def services_file(name):
    return HERE / "setups" / f"{name}.services.yaml"
