#!/usr/bin/python3
"""Writes the seed corpus of flows_fuzzer: files of kept flows as src/store/flow_codec.h describes
them, without the checksum, which the fuzzer adds.

usage: make_flows_corpus.py FOLDER      FOLDER/flows
"""

import ipaddress
import pathlib
import struct
import sys


def name(text):
    return struct.pack("<H", len(text)) + text.encode()


def backend(pool, address):
    address = ipaddress.ip_address(address)
    return name(pool) + bytes([address.version]) + address.packed


def flow(source, destination, service=0, to=0, confirmed=False, protocol=6):
    source, destination = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    kind = (source.version == 6) | confirmed << 1
    return (struct.pack("<BBHHIII", kind, protocol, 50000, 443, service, to, 7) + source.packed +
            destination.packed)


def file(services, backends, flows, version=1):
    parts = [b"PENFLOWS", struct.pack("<Iq", version, 1700000000)]
    parts += [struct.pack("<I", len(services)), *map(name, services)]
    parts += [struct.pack("<I", len(backends)), *backends]
    return b"".join(parts + [struct.pack("<Q", len(flows)), *flows])


V4 = flow("192.0.2.1", "203.0.113.10", confirmed=True)
V6 = flow("2001:db8::1", "2001:db8:53::10", service=1, to=1, protocol=17)
NAMES = (["web-https", "dns"], [backend("web", "10.1.0.11"), backend("dns", "2001:db8:9::13")])
SEEDS = {
    "empty": file([], [], []),
    "both_families": file(*NAMES, [V4, V6]),
    "many": file(*NAMES, [V4, V6] * 20),
    "cut": file(*NAMES, [V4, V6])[:-9],
    "later_version": file(*NAMES, [V4], version=2),
    "no_such_service": file(*NAMES, [flow("192.0.2.1", "203.0.113.10", service=2)]),
}


def main():
    folder = pathlib.Path(sys.argv[1]) / "flows"
    folder.mkdir(parents=True, exist_ok=True)
    for title, content in SEEDS.items():
        (folder / title).write_bytes(content)


if __name__ == "__main__":
    main()
