"""Where the files of control groups are, in version 1, version 2 and both at once."""

from __future__ import annotations

from typing import NamedTuple

from agent.collectors.storage.mounts import Mount, mounts_of
from agent.machine.machine import Machine

CONTROLLERS = ("memory", "cpu", "cpuacct", "blkio", "pids")
"""Those of version 1; version 2 has the same ones in one hierarchy, `blkio` as `io`."""
_UNIFIED = ""
MAX_DEPTH = 16


class Folder(NamedTuple):
    """The folder of a control group's files; `is_unified` says that they are those of version 2."""

    path: str
    is_unified: bool


class Hierarchy:
    """The control groups that are mounted on a machine."""

    def __init__(self, machine: Machine) -> None:
        self._mounts: dict[str, Mount] = {}
        for mount in _mounts(machine):
            for controller in _controllers(mount):
                self._mounts.setdefault(controller, mount)

    def __bool__(self) -> bool:
        return bool(self._mounts)

    def folder(self, controller: str, group: str) -> Folder | None:
        """Returns the folder of a group's files for a controller, None where no hierarchy has it."""
        mount = self._mounts.get(controller) or self._mounts.get(_UNIFIED)
        if mount is None:
            return None
        path = mount.path.rstrip("/") + _below(mount.root, group)
        return Folder(path, controller not in self._mounts)


def own_groups(machine: Machine) -> dict[str, str]:
    """Returns the path of the group that this process is in, by controller of CONTROLLERS."""
    found: dict[str, str] = {}
    for line in machine.optional_text("/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if path.startswith("/"):
            found.update(dict.fromkeys(controllers.split(","), path))
    unified = found.get(_UNIFIED)
    groups = {controller: found.get(controller, unified) for controller in CONTROLLERS}
    return {controller: group for controller, group in groups.items() if group}


def with_parents(group: str) -> list[str]:
    """Returns a group and the groups around it, the innermost first: `/a/b`, `/a`, `/`."""
    parts = [part for part in group.split("/") if part][:MAX_DEPTH]
    return ["/" + "/".join(parts[:length]) for length in range(len(parts), -1, -1)]


def _mounts(machine: Machine) -> list[Mount]:
    try:
        return mounts_of(machine)
    except OSError:
        return []


def _controllers(mount: Mount) -> list[str]:
    """Returns the controllers of a mounted hierarchy."""
    if mount.type == "cgroup2":
        return [_UNIFIED]
    options = mount.options if mount.type == "cgroup" else ()
    return [controller for controller in CONTROLLERS if controller in options]


def _below(root: str, group: str) -> str:
    """Returns a group's path from the root of a mount; in a container, that root is the container's own group."""
    if ".." in group.split("/"):
        return ""
    inside = group[len(root) :] if root != "/" and f"{group}/".startswith(f"{root}/") else group
    return inside.rstrip("/")
