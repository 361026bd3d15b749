"""A session's part of the spool: its units in order, on disk or, where the disk refuses them, in memory.

The folder's name is the session's: its start in UTC, to the millisecond, its process and four random digits. Files:
`session.json` (the blob series that the units belong to), `<number>.<records>.gz` (units), `position.json` (how far
they are sent), `dropped.json` (counts of dropped records) and `lock`, which the process that owns the session holds.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent.upload.disk import Disk
from agent.upload.dropped import DroppedCounts, dropped_of
from agent.upload.file_lock import FileLock
from agent.upload.gzip_units import Unit

SESSION_NAME = re.compile(r"\d{8}T\d{9}Z-\d{1,10}-[0-9a-f]{4}")
_UNIT_NAME = re.compile(r"(\d{10})\.(\d{1,9})\.gz")
_SESSION, _POSITION, _DROPPED, _LOCK = "session.json", "position.json", "dropped.json", "lock"
NEW = ".new-"
"""Begins the name of a folder whose session hasn't begun."""


class Series(NamedTuple):
    """Where a session's units belong: a container's address and the folder in it.

    `opening` are the lines that each of the series' blobs begins with.
    """

    container: str
    prefix: str
    opening: str = ""


class SpooledUnit(NamedTuple):
    """A unit of the spool; `content` is None where it is on disk. `size` is in bytes."""

    number: int
    records: int
    size: int
    content: bytes | None = None


class SessionFolder:
    """A session; one thread at a time. `lock` is None where there is no folder, and all is in memory.

    `in_doubt` is the number of a unit that may be stored already: it was being sent, perhaps by the process before.
    """

    def __init__(self, path: str, series: Series, disk: Disk, lock: FileLock | None) -> None:
        self.name = os.path.basename(path)
        self.series = series
        self.dropped = DroppedCounts()
        self.reported = DroppedCounts()
        self.next_number = 0
        self.in_doubt: int | None = None
        self._path = path
        self._disk = disk
        self._lock = lock
        self._units: dict[int, SpooledUnit] = {}
        self._going: list[SpooledUnit] = []
        self._is_counted, self._is_reported = True, False

    @classmethod
    def create(cls, base: str, name: str, series: Series, disk: Disk) -> SessionFolder:
        """Makes a session's folder, which appears with its lock already held. Raises OSError."""
        new = os.path.join(base, NEW + name)
        disk.make_folder(new)
        lock = FileLock.take(os.path.join(new, _LOCK))
        try:
            disk.write(os.path.join(new, _SESSION), json.dumps(series._asdict()).encode())
            disk.rename(new, os.path.join(base, name))
        except OSError:
            if lock:
                lock.release()
            disk.remove_folder(new)
            raise
        disk.sync_folder(base)
        return cls(os.path.join(base, name), series, disk, lock)

    @staticmethod
    def remove_unfinished(path: str, disk: Disk) -> None:
        """Removes a folder whose process ended before its session began. Raises OSError."""
        lock = FileLock.take(os.path.join(path, _LOCK))
        if lock:
            disk.remove_folder(path)
            lock.release()

    @classmethod
    def adopt(cls, path: str, default: Series, disk: Disk) -> SessionFolder | None:
        """Takes over a session whose process ended; None where it still lives. Raises OSError.

        `default` replaces a series that can't be read.
        """
        lock = FileLock.take(os.path.join(path, _LOCK))
        if lock is None:
            return None
        found = cls(path, default, disk, lock)
        try:
            found._restore(default)
        except BaseException:
            lock.release()
            raise
        return found

    @property
    def units(self) -> list[SpooledUnit]:
        """The units from the oldest to the newest."""
        return list(self._units.values())

    @property
    def size(self) -> int:
        """Bytes of its units on disk."""
        return sum(unit.size for unit in self._units.values() if unit.content is None)

    @property
    def memory_size(self) -> int:
        """Bytes of its units in memory."""
        return sum(unit.size for unit in self._units.values() if unit.content is not None)

    def add(self, unit: Unit) -> OSError | None:
        """Takes a unit; returns why the disk refused it, and then keeps it in memory. Units there go to disk first."""
        problem = self._moved_to_disk() or self._written(unit)
        held = unit.content if problem else None
        self._units[unit.number] = SpooledUnit(unit.number, unit.records, len(unit.content), held)
        self.next_number = unit.number + 1
        self._catch_up()
        return problem

    def content(self, unit: SpooledUnit) -> bytes:
        """Returns a unit's bytes. Raises OSError where they are damaged or missing."""
        content = self._disk.read(self._file(unit)) if unit.content is None else unit.content
        if len(content) != unit.size:
            raise OSError(None, "the file has another size than before")
        return content

    def remove(self, unit: SpooledUnit) -> None:
        """Forgets a unit that was sent."""
        self._forget([unit])
        self._catch_up()

    def drop(self, units: Iterable[SpooledUnit]) -> None:
        """Drops units and counts them."""
        gone = list(units)
        self._forget(gone)
        self._count((unit.size, unit.records) for unit in gone)

    def count_dropped(self, size: int, records: int) -> None:
        """Counts a unit as dropped that never was in the spool."""
        self._count([(size, records)])

    def keep_reported(self) -> None:
        """Remembers that the counts so far are in a unit, over the end of the process if the unit is on disk."""
        self.reported = self.dropped
        self._is_reported = not self.memory_size
        self._is_counted = False
        self._catch_up()

    def _forget(self, units: Iterable[SpooledUnit]) -> None:
        for unit in units:
            known = self._units.pop(unit.number, unit)
            if known.content is None:
                self._going.append(known)

    def _count(self, sizes: Iterable[tuple[int, int]]) -> None:
        self.dropped = self.dropped.plus(sizes)
        self._is_counted = self._is_reported = False
        self._catch_up()

    def _catch_up(self) -> None:
        """Keeps the counts that the disk hasn't got, and removes units that are forgotten, as far as it allows.

        Counts are kept before their units go, with their numbers, so that a crash adds none. A full disk takes them
        once the units are gone; what a disk refuses is tried again with the next unit.
        """
        if self._is_counted and not self._going:
            return
        self._is_counted = self._is_counted or self._keep_dropped()
        while self._going and self._disk.remove(self._file(self._going[-1])):
            self._going.pop()
        self._is_counted = self._is_counted or self._keep_dropped()

    def _keep_dropped(self) -> bool:
        """Keeps the counts, and the next number, which no unit on disk may show any more; returns whether it did."""
        more = {"removing": [unit.number for unit in self._going], "reported": self._is_reported}
        return self._is_kept(_DROPPED, {**self.dropped.fields(), "next": self.next_number, **more})

    def position(self) -> Mapping[str, object]:
        """Returns the position of `keep_position`, nothing if it is lost."""
        return self._kept(_POSITION)

    def keep_position(self, position: Mapping[str, object]) -> None:
        """Keeps a position in place of the one before, which goes if the disk allows no more."""
        if not self._is_kept(_POSITION, position) and self._lock:
            self._disk.remove(os.path.join(self._path, _POSITION))

    def _is_kept(self, name: str, content: Mapping[str, object]) -> bool:
        """Writes a small file as far as the disk allows: each can be lost without losing or doubling a unit."""
        if self._lock:
            try:
                self._disk.write(os.path.join(self._path, name), json.dumps(content).encode())
            except OSError:
                return False
        return True

    def delete(self) -> None:
        """Removes the folder of a session that is over."""
        if self._lock:
            self._disk.remove_folder(self._path)
        self.release()

    def release(self) -> None:
        """Ends the lock, as the end of the process does; units stay on disk."""
        if self._lock:
            self._lock.release()
            self._lock = None

    def _moved_to_disk(self) -> OSError | None:
        """Writes units that are in memory, oldest first; returns why the disk refuses one."""
        for unit in self.units:
            if unit.content is not None:
                problem = self._written(Unit(unit.number, unit.records, unit.content))
                if problem:
                    return problem
                self._units[unit.number] = unit._replace(content=None)
        return None

    def _written(self, unit: Unit) -> OSError | None:
        if self._lock is None:
            return OSError(None, "the spool has no folder")
        try:
            self._disk.write(self._file(unit), unit.content)
        except OSError as error:
            return error
        return None

    def _file(self, unit: Unit | SpooledUnit) -> str:
        return os.path.join(self._path, f"{unit.number:010d}.{unit.records}.gz")

    def _restore(self, default: Series) -> None:
        """Reads a session that another process left: parts of files and units that are counted as dropped go."""
        self.series = _series_of(self._kept(_SESSION), default)
        counts = self._kept(_DROPPED)
        self.dropped = dropped_of(counts)
        self._is_reported = counts.get("reported") is True
        self.reported = self.dropped if self._is_reported else DroppedCounts()
        removing = _numbers_of(counts.get("removing"))
        following = counts.get("next")
        self.next_number = max([following if isinstance(following, int) else 0, *(number + 1 for number in removing)])
        for name in self._disk.names(self._path):
            unit = self._unit_of(name)
            if not unit:
                continue
            self.next_number = max(self.next_number, unit.number + 1)
            if unit.number in removing:
                self._going.append(unit)
            else:
                self._units[unit.number] = unit
        self._catch_up()
        self.in_doubt = next(iter(self._units), None)

    def _unit_of(self, name: str) -> SpooledUnit | None:
        found = _UNIT_NAME.fullmatch(name)
        if not found:
            return None
        return SpooledUnit(int(found[1]), int(found[2]), self._disk.size(os.path.join(self._path, name)))

    def _kept(self, name: str) -> Mapping[str, object]:
        """Returns the content of a small file, nothing where it is missing or damaged."""
        try:
            content = json.loads(self._disk.read(os.path.join(self._path, name)))
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


def _numbers_of(kept: object) -> list[int]:
    """Returns the units' numbers that a file names; none where it makes no sense."""
    return [number for number in kept if isinstance(number, int)] if isinstance(kept, list) else []


def _series_of(kept: Mapping[str, object], default: Series) -> Series:
    """Returns the series that a session's file names."""
    texts = [kept.get(name) for name in Series._fields]
    return Series(*map(str, texts)) if all(isinstance(text, str) for text in texts) else default
