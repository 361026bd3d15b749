"""Watches the spools on disk: every unit that an agent keeps is kept for the judge, too, by a link to its bytes."""

import errno
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from local.prove.agent.judging.sessions import SpooledUnit

_SESSION = re.compile(r"\d{8}T\d{9}Z-(?P<pid>\d+)-[0-9a-f]{4}")
_UNIT = re.compile(r"(?P<number>\d{10})\.(?P<records>\d+)\.gz")
_EVERY = 0.1  # seconds between looks


class SpoolWatch:
    """Looks at the spools in `folders`, by node, all the time and when asked to. Any thread may ask."""

    def __init__(self, folders: Mapping[str, Path], kept: Path) -> None:
        self._folders, self._kept = folders, kept
        self._units: dict[str, dict[tuple[str, int], SpooledUnit]] = {node: {} for node in folders}
        self._sessions: dict[str, set[str]] = {node: set() for node in folders}
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spool watch", daemon=True)
        for node in folders:
            (kept / node).mkdir(parents=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def look(self, node: str) -> None:
        """Keeps the units that lie in a node's spool now."""
        if node in self._folders:
            with self._lock:
                for folder in self._session_folders(node):
                    self._keep(node, folder)

    def has_session(self, node: str, pid: int) -> bool:
        """Returns whether a process has begun a session."""
        with self._lock:
            return any(_pid_of(session) == pid for session in self._sessions[node])

    def units(self, node: str) -> list[SpooledUnit]:
        """Returns all units that ever lay in a node's spool, as they were."""
        with self._lock:
            return [self._read(node, unit) for unit in self._units[node].values()]

    def left(self, node: str) -> list[str]:
        """Returns the sessions that are in a node's spool now."""
        return [folder.name for folder in self._session_folders(node)]

    @property
    def seen(self) -> int:
        return sum(map(len, self._units.values()))

    def _run(self) -> None:
        while not self._is_over.wait(_EVERY):
            for node in self._folders:
                self.look(node)

    def _session_folders(self, node: str) -> Iterator[Path]:
        spool = self._folders[node] / "spool"
        found = sorted(spool.iterdir()) if spool.is_dir() else []
        return (folder for folder in found if _SESSION.fullmatch(folder.name))

    def _keep(self, node: str, folder: Path) -> None:
        self._sessions[node].add(folder.name)
        try:
            names = [path.name for path in folder.iterdir()]
        except OSError:
            return
        for name in names:
            found = _UNIT.fullmatch(name)
            key = (folder.name, int(found["number"])) if found else None
            if found and key and key not in self._units[node]:
                self._units[node][key] = SpooledUnit(*key, int(found["records"]), None)
                self._keep_unit(folder / name, self._place(node, *key))

    def _keep_unit(self, unit: Path, place: Path) -> None:
        """Keeps a unit that may be gone: by a link, or by a copy where its disk is another."""
        with suppress(OSError):
            try:
                os.link(unit, place)
            except OSError as error:
                if error.errno == errno.EXDEV:
                    place.write_bytes(unit.read_bytes())

    def _place(self, node: str, session: str, number: int) -> Path:
        return self._kept / node / f"{session}.{number}"

    def _read(self, node: str, unit: SpooledUnit) -> SpooledUnit:
        place = self._place(node, unit.session, unit.number)
        content = place.read_bytes() if place.exists() else None
        return SpooledUnit(unit.session, unit.number, unit.records, content)


def _pid_of(session: str) -> int:
    found = _SESSION.fullmatch(session)
    return int(found["pid"]) if found else 0
