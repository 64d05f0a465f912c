"""The machine: its links to the lab's router, QEMU's command line, commands inside it."""

import time

from penstock_lab import LabError, processes
from penstock_lab.commands import ip_batch
from penstock_lab.settings import BALANCERS, FABRIC_MTU, ROUTER

from .channel import Monitor, Shell

_BOOT_SECONDS = 60
_HUGEPAGES = 128  # of 2 MB
# vfio needs an IOMMU, here an emulated one that translates interrupts too.
_MACHINE = ("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "3", "-m", "768",
            "-machine", "q35", "-device", "intel-iommu,intremap=on")
_KERNEL_LINE = ("console=ttyS0 quiet panic=1 mitigations=off intel_iommu=on iommu=nopt "
                f"hugepages={_HUGEPAGES}")


class Nic:
    """An emulated NIC on the router's link to one of the lab's penstock hosts."""

    def __init__(self, host, queues, model, slot):
        self.host = host
        self.queues = queues
        self.device = f"0000:00:{slot:02x}.0"
        self.netdev = f"net-{host.name}"
        self._model = f"{model},addr={slot:#x}"

    def arguments(self, number):
        backend = (f"tap,id={self.netdev},ifname={self.host.link},script=no,downscript=no,vhost=off"
                   + (f",queues={self.queues}" if self.queues > 1 else ""))
        return ["-netdev", backend, "-device",
                f"{self._model},netdev={self.netdev},mac=52:54:00:00:00:{number:02x}"]

    def tap(self):
        """Commands for `ip` that put a tap in the place of the router's veth."""
        link, host = self.host.link, self.host
        yield f"link del {link}"
        yield f"tuntap add {link} mode tap" + (" multi_queue" if self.queues > 1 else "")
        yield f"link set {link} mtu {FABRIC_MTU} up"
        yield f"addr add {host.gateway4}/24 dev {link}"
        yield f"addr add {host.gateway6}/64 dev {link} nodad"


# Hash reports are what the DPDK driver asks for together with receive side scaling.
VIRTIO = Nic(BALANCERS[0], 2, "virtio-net-pci,mq=on,vectors=6,rss=on,hash=on,romfile=,"
             "disable-legacy=on,iommu_platform=on", 5)
E1000E = Nic(BALANCERS[1], 1, "e1000e,romfile=", 6)
NICS = (VIRTIO, E1000E)


class Guest:
    """One machine in one lab, which is up without penstock hosts."""

    def __init__(self, settings):
        self.settings = settings
        self.configuration = None  # of the penstockd that was started last, see daemon.ensure
        self._shell = None
        self._monitor = None

    def start(self, kernel, initramfs):
        router = self.settings.namespace(ROUTER)
        ip_batch([line for nic in NICS for line in nic.tap()], router)
        shell, monitor = (self.settings.directory / name for name in ("shell.sock", "qmp.sock"))
        nics = [word for number, nic in enumerate(NICS, 1) for word in nic.arguments(number)]
        # It runs only when the shell's socket has its client, so that no answer is lost.
        processes.start(self.settings, "qemu", ROUTER, "qemu-system-x86_64", *_MACHINE, *nics,
                        "-kernel", kernel.image, "-initrd", initramfs, "-append", _KERNEL_LINE,
                        "-serial", f"file:{self.console}",
                        "-qmp", f"unix:{monitor},server=on,wait=off",
                        "-serial", f"unix:{shell},server=on,wait=on")
        try:
            self._shell = Shell(shell)
            self._monitor = Monitor(monitor)
            self._shell.wait_ready(_BOOT_SECONDS)
        except LabError as error:
            raise LabError(f"the guest does not start: {error}\n{self.logs()}") from None

    @property
    def console(self):
        return processes.log_path(self.settings, "console")

    def run(self, command, check=True, timeout=30):
        """Runs one line of shell in the guest; returns (exit code, output)."""
        code, output = self._shell.run(command, timeout)
        if check and code != 0:
            raise LabError(f"exit {code} in the guest: {command}: {output.strip()}")
        return code, output

    def bind(self, nic):
        """Gives the NIC to vfio-pci, as dpdk-devbind.py does."""
        path = "/sys/bus/pci"
        self.run(f"echo vfio-pci >{path}/devices/{nic.device}/driver_override && "
                 f"echo {nic.device} >{path}/drivers_probe && "
                 f"test -e {path}/drivers/vfio-pci/{nic.device}")

    def set_link(self, nic, up):
        """Plugs the cable in or out."""
        self._monitor.execute("set_link", name=nic.netdev, up=up)

    def logs(self):
        parts = [f"--- the end of {processes.log_path(self.settings, name)}\n"
                 f"{processes.log_tail(self.settings, name)}" for name in ("qemu", "console")]
        return "\n".join(parts)


def wait_for(condition, seconds, what):
    """Until `condition` is true; an assertion that names `what` did not come to pass."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.1)
