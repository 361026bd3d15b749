"""Startup records of mounted file systems, with a list of the options that are let in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_MOUNTS = 100
_PARTS = 4  # of a line of mounts that are read
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
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A mounted file system, as /proc/mounts lists it."""

    device: str
    path: str
    kind: str
    options: tuple[str, ...]


def mounts(machine: Machine) -> list[Mount]:
    """Returns mounted file systems in their order, without those of the kernel, containers and packages."""
    text = machine.optional_text("/proc/self/mounts") or machine.optional_text("/proc/mounts")
    found = (_mount(line.split(" ")) for line in text.splitlines())
    return [mount for mount in found if mount is not None and (mount.kind not in _KERNELS or mount.path == "/")]


def mount_records(machine: Machine) -> Iterable[Record]:
    """Yields `exec.mount` for each file system: device, mountpoint, type, and the options that hold no secret."""
    for mount in mounts(machine)[:MAX_MOUNTS]:
        fields = {
            "device": fact(shown_device(mount.device)),
            "mountpoint": fact(mount.path),
            "type": fact(mount.kind),
            "options": fact(",".join(filter(_is_let_in, mount.options))),
        }
        yield once("exec.mount", fields)


def shown_device(device: str) -> str:
    """Returns a device or share without its query, and without the user and password before a host."""
    return _USER.sub("", device.partition("?")[0])


def _mount(parts: list[str]) -> Mount | None:
    if len(parts) < _PARTS:
        return None
    device, path, kind = (_ESCAPE.sub(lambda found: chr(int(found[1], 8)), part) for part in parts[:3])
    return Mount(device, path, kind, tuple(parts[3].split(",")))


def _is_let_in(option: str) -> bool:
    name, separator, value = option.partition("=")
    return name in _OPTIONS and (not separator or bool(_VALUE.fullmatch(value)))
