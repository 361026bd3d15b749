"""A tree of the kernel's files that a test writes, and a clock that it moves."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record, Value

NOW = 1_795_000_000_000_000_000


@dataclass
class SteppedClock(Clock):
    seconds: float = 1000.0

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class Tree:
    """Files below a folder; `spaces` are the answers of statvfs by path, an OSError for those without one."""

    root: Path
    spaces: dict[str, os.statvfs_result] = field(default_factory=dict)

    @property
    def machine(self) -> Machine:
        return Machine(str(self.root), statvfs=self._statvfs, is_root=False)

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def remove(self, path: str) -> None:
        (self.root / path.lstrip("/")).unlink()

    def link(self, path: str, target: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def _statvfs(self, path: str) -> os.statvfs_result:
        inside = path[len(str(self.root)) :]
        if inside not in self.spaces:
            raise OSError(f"no file system at {inside}")
        return self.spaces[inside]


def space(total: int, free: int, available: int, inodes: int = 0, free_inodes: int = 0) -> os.statvfs_result:
    """An answer of statvfs with blocks of 1,000 bytes."""
    return os.statvfs_result((4096, 1000, total, free, available, inodes, free_inodes, free_inodes, 0, 255))


def fields(records: Iterable[Record], measurement: str, **tags: str) -> dict[str, Value]:
    """Returns the fields of the only record of a measurement that has these tags among its own."""
    (found,) = [each for each in records if each.measurement == measurement and tags.items() <= dict(each.tags).items()]
    return dict(found.fields)
