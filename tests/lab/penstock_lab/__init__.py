"""A datacenter in network namespaces: a client, an ECMP router, two penstock hosts, three backends.

Real kernels and real TCP at both ends; penstockd in between. `Lab` is the entry point:

    lab = Lab(Settings.from_environment())
    lab.up()
    spread(lab.settings, 300, "http://203.0.113.10/")
    lab.down()
"""

from .lab import Lab
from .settings import LabError, Settings

__all__ = ["Lab", "LabError", "Settings"]
