"""Says in words where two frames or outcomes differ."""

from scapy.all import Ether, hexdump


def _shown(frame: bytes) -> str:
    try:
        return Ether(frame).show(dump=True)
    except Exception as error:  # pylint: disable=broad-except
        return f"(scapy cannot show it: {error})\n"


def first_difference(expected: bytes, got: bytes) -> int:
    """Offset of the first byte that differs; of the end of the shorter one."""
    pairs = enumerate(zip(expected, got))
    return next((at for at, (a, b) in pairs if a != b), min(len(expected), len(got)))


def of_frames(expected: bytes, got: bytes) -> str:
    """Lines of scapy's view that differ, and the bytes around the first difference."""
    at = first_difference(expected, got)
    lines = [f"    frames of {len(expected)} and {len(got)} bytes differ from byte {at} on"]
    a, b = _shown(expected).splitlines(), _shown(got).splitlines()
    for i in range(max(len(a), len(b))):
        mine, theirs = (lines_[i] if i < len(lines_) else "" for lines_ in (a, b))
        if mine == theirs and mine.startswith("###"):
            lines.append(f"      {mine}")
        elif mine != theirs:
            lines.append(f"      expected {mine.strip():<40} got {theirs.strip()}")
    start = at // 16 * 16
    for name, frame in (("expected", expected), ("got", got)):
        lines.append(f"    {name} from byte {start} on:")
        lines += [f"      {line}" for line in
                  hexdump(frame[start:start + 48], dump=True).splitlines()]
    return "\n".join(lines)


def of_outcomes(expected: tuple, got: tuple) -> str:
    """`expected` and `got`: (verdict, [(port, frame), ...]). Empty if they are equal."""
    if expected == got:
        return ""
    lines = []
    if expected[0] != got[0]:
        lines.append(f"    verdict: expected {expected[0]}, got {got[0]}")
    mine, theirs = expected[1], got[1]
    if len(mine) != len(theirs):
        lines.append(f"    sent: expected {len(mine)} frames, got {len(theirs)}")
    for (port, frame), (other_port, other) in zip(mine, theirs):
        if port != other_port:
            lines.append(f"    port: expected {port}, got {other_port}")
        if frame != other:
            lines.append(of_frames(frame, other))
            break
    extra, name = (mine, "expected") if len(mine) > len(theirs) else (theirs, "got")
    for _, frame in extra[min(len(mine), len(theirs)):][:1]:
        lines.append(f"    {name} besides:\n{_shown(frame)}")
    return "\n".join(lines)
