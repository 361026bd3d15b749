"""The spool: units wait here until they are stored, over crashes and restarts, and never take more than a limit.

Sessions that earlier agents of this machine left are adopted, oldest first; those of living agents are left alone.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from agent.machine.clock import Clock
from agent.records.line_protocol import line_of
from agent.records.record import Record
from agent.upload.disk import Disk
from agent.upload.gzip_units import Unit, units_of
from agent.upload.session_folder import NEW, SESSION_NAME, Series, SessionFolder, SpooledUnit

AGENT = "batchscope_agent"
DEFAULT_SIZE = 256 << 20
"""Bytes of all sessions on disk."""
DEFAULT_MEMORY = 16 << 20
"""Bytes in memory, where the disk refuses units."""


_UNFINISHED = 3600 * 10**9  # nanoseconds since the start of a session that hasn't begun
_STAMP = len("20260101T000000000Z")


class Limits(NamedTuple):
    """The most bytes of units on disk and in memory; a unit in doubt of each session comes on top."""

    disk: int = DEFAULT_SIZE
    memory: int = DEFAULT_MEMORY


class Spool:
    """This agent's session and those that it adopted; any thread may call it."""

    def __init__(
        self,
        folder: str,
        series: Series,
        clock: Clock,
        log: Callable[[str], None],
        *,
        limits: Limits = Limits(),  # noqa: B008 - a constant
        disk: Disk | None = None,
    ) -> None:
        self._folder = folder
        self._series = series
        self._clock = clock
        self._log = log
        self._limits = limits
        self._disk = disk or Disk()
        self._lock = threading.RLock()
        self._said: set[str] = set()
        self._adopted: list[SessionFolder] = []
        self.own = self._created(session_name(clock.now()))

    def put(self, text: bytes) -> None:
        """Keeps whole lines as units, on disk when it returns; the oldest units make room for them."""
        with self._lock:
            for unit in units_of(text, self.own.name, self.own.next_number):
                if unit.content:
                    self._add(self.own, unit)
                else:
                    self.own.count_dropped(0, unit.records)

    def sessions(self) -> list[SessionFolder]:
        """Returns the sessions whose units are to be sent: adopted ones, oldest first, then this agent's."""
        with self._lock:
            return [*(session for session in self._adopted if self.is_sendable(session)), self.own]

    def is_sendable(self, session: SessionFolder) -> bool:
        """Returns whether a session belongs to this agent's container: to no other does it send its credential."""
        return session.series.container == self._series.container

    def take(self, session: SessionFolder) -> tuple[SpooledUnit, bytes] | None:
        """Returns a session's oldest unit, which stays until it is sent or rejected; None where there is none."""
        with self._lock:
            for unit in session.units:
                try:
                    content = session.content(unit)
                except OSError as error:
                    self._say(f"A unit of the spool can't be read and is dropped: {error.strerror}.")
                    session.drop([unit])
                    continue
                session.in_doubt = unit.number
                return unit, content
            return None

    def sent(self, session: SessionFolder, unit: SpooledUnit) -> None:
        """Forgets a unit that is stored."""
        with self._lock:
            session.in_doubt = None
            session.remove(unit)

    def reject(self, session: SessionFolder, unit: SpooledUnit) -> None:
        """Drops a unit that can never be stored."""
        with self._lock:
            session.in_doubt = None
            session.drop([unit])

    def adopt_left(self) -> None:
        """Takes over the sessions that ended processes left in the folder."""
        with self._lock:
            held = {session.name for session in (*self._adopted, self.own)}
            for name in self._disk.names(self._folder):
                if SESSION_NAME.fullmatch(name) and name not in held:
                    self._adopt(name)
                elif name.startswith(NEW):
                    self._remove_unfinished(name)
            self._adopted.sort(key=lambda session: session.name)

    def report_dropped(self, session: SessionFolder, sent: int = -1) -> bool:
        """Adds a unit with a session's counts of dropped units where none has them; returns whether it did.

        `sent` is the number of the last unit that is stored: where all units are gone, only storage knows it.
        """
        with self._lock:
            if session.reported == session.dropped:
                return False
            session.next_number = max(session.next_number, sent + 1)
            line = line_of(Record(AGENT, session.dropped.fields()), self._clock.now())
            for unit in units_of(line.encode(), session.name, session.next_number):
                session.add(unit)
            session.keep_reported()
            return True

    def retire(self, session: SessionFolder) -> None:
        """Removes a session of which all is sent."""
        with self._lock:
            self._adopted = [other for other in self._adopted if other is not session]
            session.delete()

    def fields(self) -> Mapping[str, int]:
        """Returns counts of waiting and dropped records, for the next unit's record of the agent."""
        with self._lock:
            held = [*self._adopted, self.own]
            self.own.reported = self.own.dropped
            return {
                "spooled_units": sum(len(session.units) for session in held),
                "spooled_bytes": sum(session.size for session in held),
                "memory_spooled_bytes": sum(session.memory_size for session in held),
                **self.own.dropped.fields(),
            }

    def close(self) -> None:
        """Gives all sessions up for the next agent, as the end of the process does."""
        with self._lock:
            for session in (*self._adopted, self.own):
                session.release()

    def _created(self, name: str) -> SessionFolder:
        try:
            self._disk.make_folder(self._folder)
            return SessionFolder.create(self._folder, name, self._series, self._disk)
        except OSError as error:
            self._say_in_memory(error)
            return SessionFolder(os.path.join(self._folder, name), self._series, self._disk, None)

    def _adopt(self, name: str) -> None:
        try:
            found = SessionFolder.adopt(os.path.join(self._folder, name), self._series, self._disk)
        except OSError as error:
            self._say(f"A session in the spool can't be taken over: {error.strerror}.")
            return
        if found:
            self._adopted.append(found)
            if not self.is_sendable(found):
                self._say("The spool holds units for another container; they stay for an agent that is given it.")

    def _remove_unfinished(self, name: str) -> None:
        """Removes what an agent left that was killed while it began, once no living one can be about to use it."""
        if name < NEW + session_name(self._clock.now() - _UNFINISHED)[:_STAMP]:
            try:
                SessionFolder.remove_unfinished(os.path.join(self._folder, name), self._disk)
            except OSError as error:
                self._say(f"The spool's folder {name} can't be removed: {error.strerror}.")

    def _add(self, session: SessionFolder, unit: Unit) -> None:
        self._make_room(len(unit.content), self._limits.disk, in_memory=False)
        in_memory = session.memory_size
        problem = session.add(unit)
        if problem:
            self._say_in_memory(problem)
            self._make_room(0, self._limits.memory, in_memory=True)
        elif in_memory:
            self._make_room(0, self._limits.disk, in_memory=False)

    def _make_room(self, size: int, limit: int, *, in_memory: bool) -> None:
        """Drops the oldest units, on disk or in memory, until `size` more bytes are within a limit.

        A session's unit in doubt stays, as it may be stored already, and so does the newest in memory.
        """
        candidates = list(self._waiting(in_memory=in_memory))
        excess = sum(unit.size for _, unit in candidates) + size - limit
        dropped: dict[str, tuple[SessionFolder, list[SpooledUnit]]] = {}
        for session, unit in candidates[: -1 if in_memory else None]:
            if excess <= 0:
                break
            if unit.number != session.in_doubt:
                dropped.setdefault(session.name, (session, []))[1].append(unit)
                excess -= unit.size
        for session, units in dropped.values():
            session.drop(units)

    def _waiting(self, *, in_memory: bool) -> Iterator[tuple[SessionFolder, SpooledUnit]]:
        """Yields the units on disk or those in memory, oldest first."""
        for session in (*self._adopted, self.own):
            for unit in session.units:
                if (unit.content is not None) == in_memory:
                    yield session, unit

    def _say_in_memory(self, problem: OSError) -> None:
        self._say(
            f"The spool's disk takes no units ({problem.strerror}), so they wait in memory, "
            f"{self._limits.memory:,} bytes at most: what isn't sent before the agent ends is lost."
        )

    def _say(self, sentence: str) -> None:
        """Logs a sentence once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._log(sentence)


def session_name(now: int) -> str:
    """Returns a session's name; `now` is in nanoseconds since 1970."""
    seconds, rest = divmod(now // 1_000_000, 1000)
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(seconds))
    return f"{stamp}{rest:03d}Z-{os.getpid()}-{secrets.token_hex(2)}"
