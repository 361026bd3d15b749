"""Spares clients the lookup of proxies where the environment names none."""

from urllib.request import getproxies


def has_proxies() -> bool:
    """Returns whether the environment names a proxy.

    A client that follows the environment scans its variables for each request and opens a netrc file twice, whose
    credentials no service of ours takes: a third of the CPU of a read of storage.
    """
    return bool(getproxies())
