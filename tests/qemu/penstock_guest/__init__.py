"""A penstock host of the lab that is a machine of its own: QEMU with emulated NICs, no KVM.

The guest takes the place of both penstock hosts: its virtio NIC is on the router's link to lb1, its
Intel NIC on the one to lb2. Client, router and backends are the lab's. `Guest` is the entry point.
"""

from .guest import Guest

__all__ = ["Guest"]
