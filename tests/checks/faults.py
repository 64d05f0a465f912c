#!/usr/bin/env python3
"""Says which faults of other load balancers, and which of their test scenarios, have a test here, and
which wait for a part of penstock.

usage: faults.py ROOT      reads tests/faults.txt; exit 1 if it and the tests disagree

Faults have ids of a letter and two digits, scenarios of a letter and three. A test belongs to one
if its name begins with the id: TEST(Parser, P01_BadVersion), or in tests/packets `case P01 ...`.
"""

import pathlib
import re
import sys

LINE = re.compile(r"([A-Z]\d{2,3}) (covered|waits): (.+)")
TEST = re.compile(r"TEST(?:_F|_P)?\(\s*\w+,\s*([A-Z]\d{2,3})_|def test_([A-Z]\d{2,3})_")
CASE = re.compile(r"^case ([A-Z]\d{2,3}) ", re.M)


def read_list(path: pathlib.Path) -> dict[str, tuple[str, str]]:
    faults = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if not match or match.group(1) in faults:
            raise SystemExit(f"{path}:{number}: not `ID covered|waits: TEXT`, or there twice: {line}")
        faults[match.group(1)] = (match.group(2), match.group(3))
    return faults


def tested_ids(root: pathlib.Path) -> set[str]:
    files = [p for p in (root / "tests").rglob("*") if p.suffix in (".cc", ".py")]
    found = (TEST.finditer(p.read_text()) for p in files)
    cases = [p.read_text() for p in (root / "tests" / "packets" / "cases").glob("*.txt")]
    return ({a or b for matches in found for a, b in (m.groups() for m in matches)} |
            {identifier for text in cases for identifier in CASE.findall(text)})


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    faults = read_list(root / "tests" / "faults.txt")
    tested = tested_ids(root)
    wrong = [f"{i}: said to be covered, but no test has its name" for i, (state, _) in
             faults.items() if state == "covered" and i not in tested]
    wrong += [f"{i}: has a test, but is said to wait" for i in sorted(tested & faults.keys())
              if faults[i][0] == "waits"]
    wrong += [f"{i}: has a test, but is not listed" for i in sorted(tested - faults.keys())]
    for kind, size in (("faults", 3), ("scenarios", 4)):
        mine = [i for i in faults if len(i) == size]
        covered = [i for i in mine if faults[i][0] == "covered"]
        print(f"{kind} covered, {len(covered)} of {len(mine)}: {' '.join(covered)}")
    for identifier, (state, text) in faults.items():
        if state == "waits":
            print(f"waits: {identifier} {text}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
