#!/usr/bin/env python3
"""Checks that each module includes only what docs/ARCHITECTURE.md allows.

usage: layers.py ROOT      prints file:line of every forbidden include; exit 1 if there is one
       layers.py --self-test   proves that each rule objects to a file that breaks it
"""

import pathlib
import re
import sys
import tempfile

# module: modules whose headers it may include, besides its own.
ALLOWED = {
    "base": set(),
    "net": {"base"},
    "lb": {"base", "net"},
    "config": {"base", "net", "v1"},
    "control": {"base", "net", "lb", "config"},
    "store": {"base", "net", "lb", "config", "control"},
    "rpc": {"base", "net", "lb", "config", "control", "v1"},
    "dpdk": {"base", "net", "lb", "config"},
    "announce": {"base", "control"},
    "daemon": {"base", "net", "lb", "config", "control", "store", "rpc", "dpdk", "announce"},
    "cli": {"base", "net", "config", "v1"},
    "decap": set(),
}
# Of config, these modules see the plain structs and their bytes only: no YAML, no protobuf.
PLAIN_CONFIG = {"host_config.h", "services_config.h", "serialize.h", "violation.h", "validate.h"}
PLAIN_CONFIG_ONLY = {"dpdk", "control", "store"}
# Include pattern: modules that may use it.
EXTERNAL = {
    r"rte_.*": {"dpdk"},
    r"grpc(pp)?/.*": {"rpc", "announce", "cli"},
    r"google/.*": {"config", "rpc", "announce", "cli"},
    r"yaml-cpp/.*": {"config"},
    r"sqlite3.*": {"store"},
    r"(bpf|xdp|linux/bpf.*)/?.*": {"decap"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def module_of(path: pathlib.Path) -> str:
    """src/lb/x.cc and include/penstock/lb/x.h belong to lb."""
    parts = path.parts
    return parts[1] if parts[0] == "src" else parts[2]


def included_module(name: str) -> str | None:
    """The module of ours that an include belongs to, if any."""
    parts = name.split("/")
    if parts[0] == "penstock" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ALLOWED and len(parts) == 2 else None


def objection(module: str, quoted: str | None, system: str | None) -> str | None:
    other = included_module(quoted) if quoted else None
    name = quoted or system or ""
    if other is not None and other != module:
        if other not in ALLOWED[module]:
            return f"{module} may not include {other}"
        plain = name.split("/")[-1] in PLAIN_CONFIG
        if module in PLAIN_CONFIG_ONLY and other == "config" and not plain:
            return f"{module} may include only {', '.join(sorted(PLAIN_CONFIG))} of config"
    for pattern, modules in EXTERNAL.items():
        if re.fullmatch(pattern, name) and module not in modules:
            return f"<{name}> belongs to {', '.join(sorted(modules))}"
    return None


def check(root: pathlib.Path) -> list[str]:
    findings = []
    files = [p for top in ("src", "include") for p in sorted((root / top).rglob("*"))]
    for path in (p for p in files if p.suffix in (".h", ".cc", ".c")):
        relative = path.relative_to(root)
        module = module_of(relative)
        if module not in ALLOWED:
            findings.append(f"{relative}:1: module {module} is not in the table of layers.py")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            reason = objection(module, match.group(1), match.group(2)) if match else None
            if reason:
                findings.append(f"{relative}:{number}: {reason}")
    return findings


def self_test() -> int:
    cases = [
        ("src/lb/x.cc", "#include <rte_mbuf.h>"),
        ("src/control/x.cc", "#include <grpcpp/grpcpp.h>"),
        ("src/control/x.cc", '#include "dpdk/worker.h"'),
        ("src/control/x.cc", '#include "penstock/config/convert.h"'),
        ("src/dpdk/x.cc", '#include "penstock/control/controller.h"'),
        ("include/penstock/net/x.h", '#include "penstock/lb/burst.h"'),
        ("src/lb/x.cc", '#include "penstock/v1/config.pb.h"'),
        ("src/control/x.cc", "#include <sqlite3.h>"),
        ("src/control/x.cc", '#include "penstock/store/state_store.h"'),
        ("src/store/x.cc", '#include "penstock/config/convert.h"'),
        ("src/newcomer/x.cc", "#include <vector>"),
    ]
    failures = 0
    for name, text in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            (pathlib.Path(folder) / "include").mkdir(exist_ok=True)
            path.write_text(text + "\n")
            if not check(pathlib.Path(folder)):
                print(f"no objection to {text} in {name}")
                failures += 1
    return 1 if failures else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    findings = check(pathlib.Path(sys.argv[1]))
    print("\n".join(findings) or "every include is allowed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
