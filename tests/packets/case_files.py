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
      apply: drained                 other services are applied before it
      wait: 5                        then seconds pass before it; 0.1 is 100 ms

A fragment that waits for its first one has the verdict `held`. The step with which it comes out
says so, behind its own frames; that may be a step of `wait` alone, without a frame:

      released: 1 forwarded          step 1; 1-3: steps 1, 2 and 3, all alike
      out: OUT / ipip4(PACKET)       and what is sent of each of them

and of a case: `each: TOS in (0, 1, 2)` repeats it for each value; `burst: yes` has its frames come
as one burst, where what is held and released at once is told by its last verdict; `driver only: REASON` when it cannot run end to end.
"""

import collections
import dataclasses
import pathlib
import re

from scapy.all import raw

import words

HERE = pathlib.Path(__file__).parent
KEY = re.compile(r"  (in|packet|verdict|out|released|with|wait|apply|each|burst|driver only|host|"
                 r"services): (.*)")
STEP_KEYS = ("with", "wait", "apply")
RELEASED = re.compile(r"(\d+)(?:-(\d+))? (\w+)")


@dataclasses.dataclass
class Release:
    """What becomes of a frame that was held, and with it of its step."""

    number: int  # of the step, from 1 on
    verdict: str
    out: list[bytes]  # shared with the others of one line


@dataclasses.dataclass
class Step:
    """One frame and what becomes of it; or time that passes."""

    frame: bytes | None = None  # None: only time passes
    verdict: str = ""
    out: list[bytes] = dataclasses.field(default_factory=list)
    released: list[Release] = dataclasses.field(default_factory=list)
    port: int = 0  # where it comes in, and where frames leave
    headroom: int = 128  # bytes in front of the frame in its buffer
    flags: str = "-"  # names of driver.cc
    buffers: int | None = None  # for fragments; None: enough
    times: int = 1  # how often it comes, with the same outcome
    out_port: int | None = None  # None: `port`
    wait: float = 0  # seconds before it
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
        self.sent = []  # whereto the next `out` belongs

    def add(self, key, value, place):
        if key in ("in", "packet", *STEP_KEYS) and (
                self.step is None or self.step.verdict or self.step.released):
            self.step = Step()
            self.steps.append(self.step)
            self.sent = self.step.out
        if self.step is None:
            raise CaseError(f"{place}: {key} before any packet")
        if key == "packet":
            self.names["PACKET"] = _evaluate(value, self.names, place)
        elif key == "in":
            self.step.frame = raw(_evaluate(value, self.names, place))
        elif key == "verdict":
            if self.step.frame is None:
                self.step.frame = raw(_evaluate("ETH / PACKET", self.names, place))
            self.step.verdict = value
        elif key == "released":
            self._release(value, place)
        elif key == "out":
            self.sent.append(raw(_evaluate(value, self.names, place)))
        elif key == "with":
            for name, setting in _evaluate(f"dict({value})", self.names, place).items():
                setattr(self.step, name, setting)
        elif key == "wait":
            self.step.wait = _evaluate(value, self.names, place)
        elif key == "apply":
            self.step.apply = value

    def _release(self, value, place):
        match = RELEASED.fullmatch(value)
        if not match:
            raise CaseError(f"{place}: not `released: STEP VERDICT`: {value}")
        first, last = int(match[1]), int(match[2] or match[1])
        self.sent = []
        self.step.released += [Release(n, match[3], self.sent) for n in range(first, last + 1)]


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


def _is_special(case, step):
    """Whether only packet_driver can play the step: a capture knows no time between frames."""
    pauses_at_the_end = step is case.steps[-1] and step.frame is None
    return (step.wait and not pauses_at_the_end or step.apply or step.buffers is not None or
            step.headroom != 128 or step.flags != "-")


def _mistake(case, step):
    if not step.verdict and (step.frame is not None or not step.released):
        return "a step without a verdict"
    if _is_special(case, step) and not case.driver_only:
        return "say why it is `driver only:`"
    ends = [(step.verdict, step.out)] + [(r.verdict, r.out) for r in step.released]
    for verdict, sent in ends:
        if verdict in ("forwarded", "answered_echo", "answered_too_big") and not sent:
            return f"{verdict} and nothing sent?"
    return ""


def _check(case):
    held = set()
    for number, step in enumerate(case.steps, 1):
        mistake = _mistake(case, step)
        if step.verdict == "held":
            held.add(number)
        for release in step.released:
            if release.number not in held:
                mistake = f"step {release.number} is not held"
            held.discard(release.number)
        if mistake:
            raise CaseError(f"{case.place}: {case.name}: step {number}: {mistake}")
    if held:
        raise CaseError(f"{case.place}: {case.name}: what becomes of the steps {sorted(held)}?")
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
