"""Mounts of the node, from /proc/self/mountinfo, and which of them are file systems of its own disks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agent.machine.machine import Machine

MAX_MOUNTS = 10_000
LOCAL = frozenset((
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "ntfs", "ntfs3", "reiserfs",
    "vfat", "xfs", "zfs",
))  # fmt: skip
_MAY_HANG = ("9p", "afs", "autofs", "beegfs", "ceph", "cifs", "fuse", "gfs", "glusterfs", "gpfs", "lustre", "ncp",
             "nfs", "ocfs", "orangefs", "pvfs", "smb", "virtiofs")  # fmt: skip
_OF_CONTAINER = "overlay"
_ESCAPE = re.compile(r"\\([0-7]{3})")
_MIN_FIELDS = 6


class Mount(NamedTuple):
    """A mount: `device` is `major:minor`, `root` the folder of the file system that is mounted at `path`.

    `options` are those of the mount, then those of the file system.
    """

    device: str
    root: str
    path: str
    type: str
    source: str
    is_read_only: bool
    options: tuple[str, ...]


def mounts_of(machine: Machine) -> list[Mount]:
    """Returns all mounts that this process sees, in the order of their mounting. Raises OSError."""
    lines = machine.text("/proc/self/mountinfo").split("\n")[:MAX_MOUNTS]
    return [mount for mount in map(mount_of, lines) if mount]


def mount_of(line: str) -> Mount | None:
    """Returns the mount that a line of mountinfo describes, None where it makes no sense.

    The kernel escapes ASCII spaces only, so paths may hold other spaces and line separators of Unicode.
    """
    before, _, after = line.partition(" - ")
    fields, (kind, source, options) = before.split(" "), [*after.split(" "), "", "", ""][:3]
    if len(fields) < _MIN_FIELDS or not kind:
        return None
    shown = tuple(dict.fromkeys((*fields[5].split(","), *filter(None, options.split(",")))))
    if "ro" in shown:
        shown = tuple(option for option in shown if option != "rw")
    return Mount(fields[2], _plain(fields[3]), _plain(fields[4]), kind, _plain(source), "ro" in shown, shown)


def local_file_systems(mounts: Iterable[Mount]) -> list[Mount]:
    """Returns one mount of each file system on disks of the node, in order of their paths.

    Network file systems and everything below them are left out, as a server that doesn't answer stops whoever looks at
    them. Of several mounts of a file system, the one of its topmost folder is returned.
    """
    visible = {mount.path: mount for mount in mounts}
    hanging = tuple(f"{path.rstrip('/')}/" for path, mount in visible.items() if mount.type.startswith(_MAY_HANG))
    found: dict[str, Mount] = {}
    for mount in sorted(visible.values(), key=lambda each: (len(each.root), len(each.path), each.path)):
        if _is_local(mount) and not mount.path.startswith(hanging):
            found.setdefault(mount.device, mount)
    return sorted(found.values(), key=lambda each: each.path)


def _is_local(mount: Mount) -> bool:
    return mount.type in LOCAL or (mount.type == _OF_CONTAINER and mount.path == "/")


def _plain(text: str) -> str:
    """Returns a path without the escapes that mountinfo has for spaces and line breaks."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), text)
