"""Sends the spool's units to their series, the oldest session first, one request at a time.

A failure of the service pauses everything, as does one with which it asks for a wait; one of a single session lets the
others go on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from agent.machine.clock import Clock
from agent.records.record import Value
from agent.upload.append_blob import NO_ANSWER, AppendBlobs, StorageError
from agent.upload.backoff import Backoff
from agent.upload.blob_series import MAX_BLOCKS, BlobSeries
from agent.upload.credentials import CredentialError
from agent.upload.session_folder import SessionFolder
from agent.upload.spool import Spool

IDLE_WAIT = 60.0
"""Seconds until the sender looks again where there is nothing to send."""
_ADOPT_EVERY = 600.0  # seconds between looks for sessions of agents that ended
_OF_THE_SERVICE = (NO_ANSWER, 401, 403, 408, 429)
_INVALID, _TOO_LARGE = 400, 413
INVALID_SECONDS = 3600.0
"""Seconds after which a unit that is refused as invalid is dropped, so that the others of its session go on."""
_MAX_SAID = 100


class Sender:
    """Sends units step by step; for one thread, but `fields` may be read by any."""

    def __init__(
        self,
        spool: Spool,
        blobs: AppendBlobs,
        clock: Clock,
        log: Callable[[str], None],
        *,
        max_blocks: int = MAX_BLOCKS,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._spool, self._blobs, self._clock, self._log = spool, blobs, clock, log
        self._max_blocks = max_blocks
        self._backoff = Backoff(chance)
        self._series: dict[str, BlobSeries] = {}
        self._paused_until = self._adopt_at = clock.monotonic()
        self._asked_until = self._paused_until
        self._session_waits: dict[str, float] = {}
        self._invalid_since: dict[str, tuple[int, float]] = {}
        self._units = self._bytes = self._failures = 0
        self._said: set[str] = set()

    def step(self) -> float:
        """Sends at most one unit; returns the seconds after which to call it again, 0 where there is more to do.

        Raises nothing for failures of the network, of storage or of credentials: it counts and logs them.
        """
        now = self._clock.monotonic()
        if now < self._paused_until:
            return self._paused_until - now
        if now >= self._adopt_at:
            self._adopt_at = now + _ADOPT_EVERY
            self._spool.adopt_left()
        for session in self._spool.sessions():
            if self._session_waits.get(session.name, now) <= now and self._advance(session):
                return 0.0
        waits = [until - now for until in self._session_waits.values() if until > now]
        return min([IDLE_WAIT, *waits])

    def hurry(self) -> None:
        """Tries at once, unless the service asked for a wait."""
        self._paused_until = self._asked_until
        self._session_waits.clear()

    def is_done(self) -> bool:
        """Returns whether nothing is left to send, nor a count of drops of earlier sessions."""
        return all(session is self._spool.own and not session.units for session in self._spool.sessions())

    def finish(self) -> None:
        """Ends this agent's session: reports dropped records, seals its blob and removes its folder."""
        own = self._spool.own
        if self._spool.report_dropped(own):
            self._advance(own)
        if not own.units:
            self._series_of(own).seal()
            self._spool.retire(own)

    def fields(self) -> Mapping[str, Value]:
        """Returns counts since the start; the offset is in seconds by which the service's clock is ahead."""
        return {
            "sent_units": self._units,
            "sent_bytes": self._bytes,
            "send_failures": self._failures,
            "storage_clock_offset_seconds": round(self._blobs.clock_offset, 1),
        }

    def _advance(self, session: SessionFolder) -> bool:
        """Sends a session's oldest unit, or ends an adopted session; returns whether there was anything to do."""
        taken = self._spool.take(session)
        if taken is None:
            return self._ended(session)
        unit, content = taken
        try:
            self._series_of(session).append(unit.number, content)
        except (StorageError, CredentialError) as error:
            self._failed(session, error)
            if self._is_hopeless(session, unit.number, getattr(error, "status", NO_ANSWER)):
                self._spool.reject(session, unit)
            return True
        self._spool.sent(session, unit)
        self._invalid_since.pop(session.name, None)
        self._backoff.succeeded()
        self._session_waits.pop(session.name, None)
        self._units += 1
        self._bytes += unit.size
        return True

    def _is_hopeless(self, session: SessionFolder, number: int, status: int) -> bool:
        """Returns whether a refused unit is dropped: at once if it is too large, after an hour if it is invalid."""
        if status != _INVALID:
            return status == _TOO_LARGE
        now = self._clock.monotonic()
        known, since = self._invalid_since.get(session.name, (number, now))
        self._invalid_since[session.name] = number, since if known == number else now
        return known == number and now - since >= INVALID_SECONDS

    def _ended(self, session: SessionFolder) -> bool:
        """Ends an adopted session of which all is sent."""
        if session is self._spool.own:
            return False
        series = self._series_of(session)
        try:
            sent = series.last_sent()
        except (StorageError, CredentialError) as error:
            self._failed(session, error)
            return True
        if not self._spool.report_dropped(session, sent):
            series.seal()
            self._series.pop(session.name, None)
            self._spool.retire(session)
        return True

    def _failed(self, session: SessionFolder, error: StorageError | CredentialError) -> None:
        self._failures += 1
        until = self._clock.monotonic() + self._backoff.failed(error.asked)
        if error.asked is not None:
            self._paused_until = self._asked_until = until
        elif _is_of_the_service(error):
            self._paused_until = until
        else:
            self._session_waits[session.name] = until
        self._say(str(error))

    def _series_of(self, session: SessionFolder) -> BlobSeries:
        return self._series.setdefault(session.name, BlobSeries(self._blobs, session, self._max_blocks))

    def _say(self, sentence: str) -> None:
        """Logs a sentence the first time."""
        if sentence not in self._said and len(self._said) < _MAX_SAID:
            self._said.add(sentence)
            self._log(f"{sentence} What was measured waits in the spool.")


def _is_of_the_service(error: StorageError | CredentialError) -> bool:
    """Returns whether other sessions would fail in the same way."""
    status = getattr(error, "status", NO_ANSWER)
    return status in _OF_THE_SERVICE or status >= 500  # noqa: PLR2004 - HTTP's
