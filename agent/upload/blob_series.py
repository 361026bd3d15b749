"""The blobs of a session, `<prefix>/<session>.<N>.gz`, to which units are appended exactly once and in order.

The next N follows where a blob has enough blocks or ended attempts of tasks, is sealed or deleted, or has bytes of
another writer. A failed append leaves in doubt whether the unit is stored; the blob's length and its bytes at the
unit's position decide that before anything else is appended. A position that an earlier process kept may be an old one,
as a disk that turned read-only keeps it: where other bytes follow it, the end of the last blob decides.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import NamedTuple

from agent.upload.append_blob import AppendBlobs, BlobProperties, StorageError
from agent.upload.credentials import CredentialError
from agent.upload.gzip_units import MAX_STORED, ended_attempts, gzip_member, last_number
from agent.upload.session_folder import SessionFolder

MAX_BLOCKS = 50_000
"""The service's limit of an append blob's blocks."""
MAX_ENDED = 600
"""Attempts that end in a blob: the app keeps 900 attempts of tasks apart in one, and up to 256 of them still run."""
_MIN_BLOCKS = 2  # the opening and a unit
_MAX_TRIES = 4  # conflicts in a row, and foreign blobs in a row
_MAX_PROBED = 10_000  # blobs of one series
_CONFLICTS = (404, 409, 412)
_CONTAINER_CODES = ("ContainerNotFound", "ContainerBeingDeleted", "ContainerDisabled")
_FULL_CODES = ("BlockCountExceedsLimit", "BlobIsSealed", "MaxBlobSizeConditionNotMet")


class Position(NamedTuple):
    """Where a session's next unit belongs: in blob N, at a byte, after a number of blocks.

    `sent` is the number of the last unit that is stored, -1 for none. `ended` counts the attempts that end in the blob;
    it is MAX_ENDED where that isn't known.
    """

    blob: int = 0
    length: int = 0
    blocks: int = 0
    sent: int = -1
    ended: int = 0


class BlobSeries:
    """Appends a session's units; for one thread."""

    def __init__(self, blobs: AppendBlobs, session: SessionFolder, max_blocks: int = MAX_BLOCKS) -> None:
        self._blobs = blobs
        self._session = session
        self._max_blocks = max(max_blocks, _MIN_BLOCKS)
        self._opening = session.series.opening.encode()
        self._known = position_of(session.position())
        self._may_be_old = self._known is not None
        self._in_doubt = True
        self._is_full = False

    def append(self, number: int, content: bytes) -> None:
        """Stores a unit; one that is stored already isn't stored again. Raises StorageError and CredentialError.

        After an error it isn't known whether the unit is stored: it must be given again before any other.
        """
        position = self._known or self._found_position(Position())
        if number <= position.sent:
            return
        for _ in range(_MAX_TRIES):
            if self._is_opened() and self._is_stored(content):
                position = self._position()
                self._keep(position._replace(sent=number, ended=position.ended + ended_attempts(content)))
                return
            if self._may_be_old:
                position = self._found_position(self._position())
                if number <= position.sent:
                    return
                if not position.length:
                    continue
            self._next_blob()
        raise StorageError("Blobs of this session keep being written by others.", _CONFLICTS[1])

    def last_sent(self) -> int:
        """Returns the number of the last unit that is stored, -1 for none. Raises StorageError and CredentialError."""
        if self._known is None or self._may_be_old:
            self._found_position(self._position())
        return self._position().sent

    def seal(self) -> None:
        """Seals the last blob if there is one; raises nothing, as a blob that stays open harms nobody."""
        if self._known and self._known.length:
            self._seal()

    def _seal(self) -> None:
        with contextlib.suppress(StorageError, CredentialError):
            self._blobs.seal(self._name(self._position().blob))

    def _is_opened(self) -> bool:
        """Appends the lines that begin a blob where it is empty; returns False where the next blob is due."""
        if not self._opening or self._position().length:
            return True
        return self._is_stored(self._opening_unit())

    def _opening_unit(self) -> bytes:
        return gzip_member(self._opening, f"{self._session.name}.opening")

    def _is_stored(self, content: bytes) -> bool:
        """Appends bytes at the position, unless they are there; returns False where the next blob is due."""
        conflict = StorageError("A blob keeps changing.", _CONFLICTS[1])
        for _ in range(_MAX_TRIES):
            settled = self._settled(content) if self._in_doubt else None
            if settled is not None:
                return settled
            if self._position().blocks >= self._max_blocks or self._has_enough_attempts(content):
                return False
            try:
                self._append(content)
            except StorageError as error:
                if not _is_conflict(error):
                    raise
                self._is_full = error.code in _FULL_CODES
                conflict = error
                continue
            return True
        raise conflict

    def _has_enough_attempts(self, content: bytes) -> bool:
        ended = self._position().ended
        return ended > 0 and ended + ended_attempts(content) > MAX_ENDED

    def _append(self, content: bytes) -> None:
        position = self._position()
        self._in_doubt = True
        blocks = self._blobs.append(self._name(position.blob), position.length, content)
        self._in_doubt = self._may_be_old = False
        self._advance(len(content), max(blocks, position.blocks + 1))

    def _settled(self, content: bytes) -> bool | None:
        """Finds out whether bytes are stored at the position.

        Returns True where they are, None where they are to be appended, and False where the next blob is due.
        """
        position = self._position()
        found = self._blobs.properties(self._name(position.blob))
        if found is None:
            return self._created(position)
        if found.length < position.length:
            return False
        if found.length == position.length:
            self._known = position._replace(blocks=found.blocks)
            self._in_doubt = False
            return False if found.sealed or self._is_full else None
        if not self._stands_at(position, content, found):
            return False
        self._in_doubt = found.length > position.length + len(content)
        self._advance(len(content), found.blocks)
        return True

    def _stands_at(self, position: Position, content: bytes, found: BlobProperties) -> bool:
        end = position.length + len(content)
        name = self._name(position.blob)
        return found.length >= end and self._blobs.read(name, position.length, end) == content

    def _created(self, position: Position) -> bool | None:
        """Creates the blob that doesn't exist; one that was deleted is followed by the next."""
        if position.length:
            return False
        try:
            self._blobs.create(self._name(position.blob))
        except StorageError as error:
            if not _is_conflict(error):
                raise
            if self._blobs.properties(self._name(position.blob)) is None:
                raise
            return None  # it exists, created by a request without an answer or by another: still in doubt
        self._in_doubt = self._is_full = False
        return None

    def _next_blob(self) -> None:
        if self._position().length:
            self._seal()
        self._in_doubt, self._is_full = True, False
        position = self._position()
        self._keep(Position(position.blob + 1, sent=position.sent))

    def _advance(self, size: int, blocks: int) -> None:
        position = self._position()
        self._known = position._replace(length=position.length + size, blocks=blocks)

    def _keep(self, position: Position) -> None:
        self._known = position
        self._session.keep_position(position._asdict())

    def _position(self) -> Position:
        return self._known or Position()

    def _name(self, number: int) -> str:
        return f"{self._session.series.prefix}/{self._session.name}.{number}.gz"

    def _found_position(self, first: Position) -> Position:
        """Finds the position in the series' last blob, whose end names the last unit that is stored.

        `first` is a position that isn't behind it.
        """
        blob, found = first.blob, None
        for number in range(first.blob, first.blob + _MAX_PROBED):
            following = self._blobs.properties(self._name(number))
            if following is None:
                break
            blob, found = number, following
        end = self._end_of(blob, found) if found else first
        self._known = end._replace(sent=max(end.sent, first.sent))
        self._in_doubt, self._may_be_old = True, False
        if found and found.length and not self._begins_with_opening(blob, found.length):
            self._next_blob()
        return self._position()

    def _begins_with_opening(self, blob: int, length: int) -> bool:
        """Returns whether a blob with content begins as this series begins them; one that another began doesn't."""
        opening = self._opening_unit() if self._opening else b""
        return not opening or (
            length >= len(opening) and self._blobs.read(self._name(blob), 0, len(opening)) == opening
        )

    def _end_of(self, blob: int, found: BlobProperties) -> Position:
        name = self._name(blob)
        begin = max(found.length - MAX_STORED, 0)
        stored = self._blobs.read(name, begin, found.length) if found.length else b""
        sent = last_number(stored, self._session.name)
        if sent is None and blob and len(stored) == found.length:
            before = self._blobs.properties(self._name(blob - 1))
            sent = self._end_of(blob - 1, before).sent if before else None
        return Position(
            blob, found.length, found.blocks, -1 if sent is None else sent, MAX_ENDED if found.length else 0
        )


def _is_conflict(error: StorageError) -> bool:
    """Returns whether a request failed because of the blob's state."""
    return error.status in _CONFLICTS and error.code not in _CONTAINER_CODES


def position_of(kept: Mapping[str, object]) -> Position | None:
    """Returns the position that was kept in a file, None where it makes no sense."""
    numbers = [kept.get(name) for name in Position._fields]
    found = [number for number in numbers if isinstance(number, int) and number >= -1]
    return Position(*found) if len(found) == len(numbers) and min(found[:3]) >= 0 else None
