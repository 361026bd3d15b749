"""Startup records of mounted file systems, with a list of the options that are let in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.collectors.storage.mounts import Mount, mounts_of
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_MOUNTS = 100
_KERNELS = frozenset((
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "fusectl", "hugetlbfs", "mqueue", "nsfs", "overlay", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs",
    "squashfs", "sysfs", "tracefs",
))  # fmt: skip
"""File systems of the kernel, of containers and of packages: they hold nothing of a task's."""
_OPTIONS = frozenset((
    "ro", "rw", "relatime", "noatime", "nodiratime", "strictatime", "sync", "async", "discard", "hard", "soft",
    "nolock", "noexec", "nosuid", "nodev", "vers", "nfsvers", "proto", "rsize", "wsize", "nconnect", "timeo", "retrans",
    "actimeo", "acregmax", "cache", "data", "barrier", "nobarrier", "size", "nr_inodes", "nofail", "lazytime",
    "local_lock",
    "mfsymlinks", "serverino", "nosharesock", "flock", "inode64", "logbsize",
))  # fmt: skip
_VALUE = re.compile(r"[A-Za-z0-9.,:+\-]{1,32}")
_USER = re.compile(r"(?<=://)[^/]*@|[^/@]*:[^/@]*@")


def mount_records(machine: Machine) -> Iterable[Record]:
    """Yields `exec.mount` for each file system: device, mountpoint, type, and the options that hold no secret."""
    shown = [mount for mount in _mounts(machine) if mount.type not in _KERNELS or mount.path == "/"]
    for mount in shown[:MAX_MOUNTS]:
        fields = {
            "device": fact(shown_device(mount.source)),
            "mountpoint": fact(mount.path),
            "type": fact(mount.type),
            "options": fact(",".join(filter(_is_let_in, mount.options))),
        }
        yield once("exec.mount", fields)


def shown_device(device: str) -> str:
    """Returns a device or share without its query, and without the user and password before a host."""
    return _USER.sub("", device.partition("?")[0])


def _mounts(machine: Machine) -> list[Mount]:
    try:
        return mounts_of(machine)
    except OSError:
        return []


def _is_let_in(option: str) -> bool:
    name, separator, value = option.partition("=")
    return name in _OPTIONS and (not separator or bool(_VALUE.fullmatch(value)))
