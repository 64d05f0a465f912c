"""Debian's kernel, unpacked and not installed: its image and the modules that vfio needs."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from penstock_lab import LabError
from penstock_lab.commands import run

_META_PACKAGE = "linux-image-amd64"  # depends on the current kernel's package
# In the order in which they have to be loaded. vfio_virqfd became part of vfio in Linux 6.2.
_MODULES = ("irqbypass", "vfio", "vfio_virqfd", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci")
_OPTIONAL = ("vfio_virqfd",)


class Kernel:
    """Files of one kernel package in the cache."""

    def __init__(self, directory):
        self._directory = directory

    @property
    def image(self):
        return next(self._directory.glob("boot/vmlinuz-*"))

    def modules(self):
        """Paths in the order of loading."""
        there = {path.stem: path for path in self._directory.rglob("*.ko")}
        missing = [name for name in _MODULES if name not in there and name not in _OPTIONAL]
        if missing:
            raise LabError(f"{self._directory.name} has no module {', '.join(missing)}")
        return [there[name] for name in _MODULES if name in there]


def fetch(cache):
    """The kernel that Debian has now; downloaded when `cache` does not hold it yet."""
    package = _package()
    directory = Path(cache) / package
    if not directory.is_dir():
        directory.parent.mkdir(parents=True, exist_ok=True)
        # Renamed when it is whole: a cut download leaves nothing that looks like a kernel.
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix="unpack-") as work:
            _unpack(_download(package, Path(work)), Path(work) / "root")
            os.rename(Path(work) / "root", directory)
    return Kernel(directory)


def _package():
    shown = run("apt-cache", "depends", "--important", _META_PACKAGE, check=False).stdout
    found = re.search(r"Depends: (linux-image-\S+)", shown)
    if found is None:
        run("apt-get", "update", timeout=120)
        shown = run("apt-cache", "depends", "--important", _META_PACKAGE).stdout
        found = re.search(r"Depends: (linux-image-\S+)", shown)
    if found is None:
        raise LabError(f"apt knows no kernel package behind {_META_PACKAGE}")
    return found[1]


def _download(package, directory):
    command = ["apt-get", "-o", "APT::Sandbox::User=root", "download", package]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # the lists may be older than the archive
        run("apt-get", "update", timeout=120)
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    found = list(directory.glob(f"{package}_*.deb"))
    if done.returncode != 0 or not found:
        raise LabError(f"the guest's kernel, Debian's package {package}, cannot be downloaded: "
                       f"{done.stderr.strip()[-300:]}")
    return found[0]


def _unpack(package, directory):
    """`dpkg -x` of what the guest uses: the whole package would be 400 MB."""
    directory.mkdir()
    wanted = ["./boot/vmlinuz-*", *(f"*/{name}.ko" for name in _MODULES)]
    files = subprocess.Popen(["dpkg", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    # tar fails because of patterns without a file: the optional modules.
    subprocess.run(["tar", "--extract", "--wildcards", "--directory", directory, *wanted],
                   stdin=files.stdout, stderr=subprocess.DEVNULL, check=False)
    files.stdout.close()
    if files.wait() != 0 or not list(directory.glob("boot/vmlinuz-*")):
        shutil.rmtree(directory)
        raise LabError(f"{package.name} cannot be unpacked")
