"""XDP programs that are not the one under test, by the bpf system call alone."""

import ctypes
import os
import platform
import struct

from link import libc

SYS_BPF = {"x86_64": 321, "aarch64": 280}
MAP_CREATE, PROG_LOAD = 0, 5
PERCPU_ARRAY, XDP = 6, 6
PASS_AND_EXIT = bytes.fromhex("b700000002000000" "9500000000000000")  # r0 = XDP_PASS; exit


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, 128)
    descriptor = libc.syscall(SYS_BPF[platform.machine()], command, buffer, 128)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"bpf({command})")
    return descriptor


def load(code, name=b""):
    """An id for `bpftool`; the descriptor stays open, so that the program stays."""
    instructions = ctypes.create_string_buffer(code)
    licence = ctypes.create_string_buffer(b"GPL")
    descriptor = bpf(PROG_LOAD, struct.pack(
        "=IIQQIIQII16s", XDP, len(code) // 8, ctypes.addressof(instructions),
        ctypes.addressof(licence), 0, 0, 0, 0, 0, name))
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as info:
        return next(line.split()[1] for line in info if line.startswith("prog_id"))


def load_foreign():
    return load(PASS_AND_EXIT)


def load_other_version(kinds):
    """Named like ours, with a counter map for another number of kinds; counts nothing."""
    counters = bpf(MAP_CREATE, struct.pack("=IIIIIII16s", PERCPU_ARRAY, 4, 16, kinds, 0, 0, 0,
                                           b"decap_counters"))
    # r1 = the map: two slots, the second one empty. It only makes the map one of the program's.
    reference = struct.pack("=BBhiQ", 0x18, 0x11, 0, counters, 0)
    return load(reference + PASS_AND_EXIT, b"penstock_decap")
