"""The guest's file system: busybox, penstock, the libraries and DPDK drivers that it needs."""

import re
import shutil
import subprocess
from pathlib import Path

from penstock_lab import LabError
from penstock_lab.commands import run

_BUSYBOX = Path("/bin/busybox")
_INIT = Path(__file__).with_name("init")
# Buses, drivers of the emulated NICs, and the ring that every packet pool is kept in.
_DPDK_PLUGINS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_virtio")


def build(settings, directory, kernel, files):
    """Makes the initramfs below `directory`, `files` ({path: text}) among it. Returns its path."""
    root = directory / "root"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "dev", "modules", "proc", "run", "sys", "tmp", "var/run"):
        (root / folder).mkdir(parents=True)
    shutil.copy(_INIT, root / "init")
    _copy_busybox(root)
    programs = [Path(settings.program(name)) for name in ("penstockd", "penstockctl")]
    for program in programs:
        # Symbols are nine tenths of it, and the guest's disk is its memory.
        run("strip", "-o", root / "bin" / program.name, program)
    for path in _libraries([*programs, *_plugins()]):
        _copy_as_linked(path, root)
    for number, module in enumerate(kernel.modules()):
        shutil.copy(module, root / "modules" / f"{number}-{module.name}")
    for path, text in files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="ascii")
    return _pack(root, directory / "initramfs.cpio")


def _copy_busybox(root):
    if not _BUSYBOX.is_file():
        raise LabError("busybox-static is not installed; run tests/install_packages.sh")
    shutil.copy(_BUSYBOX, root / "bin/busybox")


def _plugins():
    """The files that DPDK loads at start, by the name that it looks for: a full version."""
    folder = next(Path("/usr/lib").glob("*/dpdk/pmds-*"), None)
    if folder is None:
        raise LabError("DPDK's drivers are not installed; run tests/install_packages.sh")
    version = folder.name.removeprefix("pmds-")
    return [folder / f"librte_{name}.so.{version}" for name in _DPDK_PLUGINS]


def _libraries(programs):
    """Everything that the loader would open for `programs`, themselves included if libraries."""
    shown = run("ldd", *programs).stdout
    if "not found" in shown:
        raise LabError(f"libraries are missing: {re.findall(r'.*not found', shown)}")
    found = {Path(path) for path in re.findall(r"(/\S+) \(0x", shown)}
    return sorted(found | {path for path in programs if ".so" in path.name})


def _copy_as_linked(path, root):
    """Keeps links as links: DPDK panics when it loads one driver by two names as two files."""
    real = path.resolve()
    for one in {path, real}:
        # Debian's /lib is /usr/lib; the image has only the latter as a folder of its own.
        (root / one.parent.resolve().relative_to("/")).mkdir(parents=True, exist_ok=True)
    for top in ("lib", "lib64"):
        if Path("/", top).is_symlink() and not (root / top).is_symlink():
            (root / top).symlink_to(Path("/", top).readlink())
    target = root / real.relative_to("/")
    if not target.exists():
        shutil.copy(real, target)
    name = root / path.parent.resolve().relative_to("/") / path.name
    if not name.exists():
        name.symlink_to(real)


def _pack(root, image):
    # With the root itself: else it would be writable for all, and DPDK loads no drivers from there.
    names = "\n".join(str(path.relative_to(root)) for path in [root, *sorted(root.rglob("*"))])
    with open(image, "wb") as output:
        done = subprocess.run(["cpio", "--create", "--format=newc", "--quiet"], cwd=root,
                              input=names.encode(), stdout=output, stderr=subprocess.PIPE,
                              check=False)
    if done.returncode != 0:
        raise LabError(f"cpio: {done.stderr.decode().strip()}")
    return image
