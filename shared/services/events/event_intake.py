"""Ingestion of Batch's resource logs: lines become events, without duplicates.

All blobs of an account write to one partition, and each step also writes its row of totals. So no other step can
intervene, and comparing with the stored events finds duplicates exactly.

Events of nodes in the same partition are written without the row of totals. Their identities are hashes of other parts
than those of Batch's events (node_events.py), so they repeat none, whether this process knows of them or not.
"""

import asyncio
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import override

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import Entry, SeenBlob
from shared.domain.blobs.rejects import BadUnit, BadUnits
from shared.domain.blobs.sweeps import Totals
from shared.domain.events.batch_events import BatchEvent, minute_of
from shared.domain.events.event_chunks import Identities, windows_of
from shared.domain.events.event_records import RecordError, account_of, is_whole_record, parse_event
from shared.domain.redaction.redaction import redacted_begin
from shared.services.blobs.blob_intake import Intake, Piece, PieceResult
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.events import EventStore, Head, checkpoint_key, chunk_rows, head_row
from shared.stores.tables.rows import Etags

MAX_LINE = 1024 * 1024  # bytes; also the maximum of a log held in memory
_SAMPLE, _READ = 200, 4096  # characters of a bad line that are kept, and that are searched for secrets
_MAX_MINUTES = 80  # in a step, so that all its rows fit into a transaction: few minutes take more than one row
_ENOUGH_REFUSED = 50_000  # in a step: half a second of work
_HEAD = "!"
_AHEAD = 60  # minutes; without them each new minute would read all identities again


@dataclass(frozen=True, slots=True)
class _Known:
    """The process's cache of an account's event identities, by windows of minutes, as of the row of totals."""

    head_etag: str
    windows: Sequence[tuple[int, int]]
    identities: Identities

    def has(self, first: int, last: int) -> bool:
        return any(begin <= first and last <= end for begin, end in self.windows)


class EventIntake(Intake):
    """Ingestion of resource logs, which name their account.

    `hint` is called with an account key and the job ids of new events, which may need a poll.
    """

    window = MAX_LINE

    def __init__(
        self,
        accounts: Collection[Account],
        events: EventStore,
        *,
        hint: Callable[[str, Collection[str]], None],
        clock: Clock,
    ) -> None:
        self._events = events
        self._clock = clock
        self._hint = hint
        self._known: dict[str, _Known] = {}
        self._keys = _unshared(accounts)

    @property
    def ingest_partitions(self) -> Collection[str]:
        return self._keys.values()

    def ingest_partition_of(self, blob_name: str) -> str | None:
        """Returns the key of the watched account of a log; its path has the name in upper case and no region."""
        return self._keys.get(account_of(blob_name) or "")

    @override
    async def group_of(self, ingest_partition: str, blob: SeenBlob) -> str:
        return ""

    def checkpoint_key(self, ingest_partition: str, entry: Entry) -> CheckpointKey:
        return checkpoint_key(ingest_partition, entry.incarnation)

    async def take(self, piece: Piece) -> PieceResult:
        """Returns the contribution of as many lines as fit into a transaction, of at most 80 minutes.

        Raises StorageError.
        """
        read, parsed = await asyncio.to_thread(_read, piece)  # a megabyte takes a while
        if not read.consumed:
            return read
        now = await self._clock.now()
        events = [event.read_at(now) for event in parsed]
        head = await self._events.load_head(piece.ingest_partition)
        known = await self._identities(piece.ingest_partition, head, events)
        fresh = known.identities.news(events) if known else []
        rows = chunk_rows(piece.ingest_partition, f"{piece.entry.incarnation}~{piece.offset:013x}", fresh)

        def stored(etags: Etags) -> None:
            if known:
                self._remember(piece.ingest_partition, replace(known, head_etag=etags[_HEAD]), fresh)
            self._hint(piece.ingest_partition, {event.job for event in fresh if event.job})

        totals = _added(head.totals, read, fresh, repeats=len(events) - len(fresh))
        return replace(read, operations=[head_row(piece.ingest_partition, head, totals), *rows], stored=stored)

    async def _identities(self, ingest_partition: str, head: Head, events: Sequence[BatchEvent]) -> _Known | None:
        """Returns the identities of all minutes with possible duplicates, from memory if nothing was written since."""
        if not events:
            return None
        windows, known = windows_of(events), self._known.get(ingest_partition)
        if known and known.head_etag == head.etag and all(known.has(*window) for window in windows):
            return known
        first, last = windows.pop()
        windows.append((first, last + _AHEAD))  # nothing is stored there now, and this process knows its own writes
        stored = [pair for window in windows for pair in await self._events.load_identities(ingest_partition, *window)]
        return _Known("", windows, Identities(stored))

    def _remember(self, ingest_partition: str, known: _Known, fresh: Sequence[BatchEvent]) -> None:
        for event in fresh:
            known.identities.add(minute_of(event.at), event.identity)
        self._known[ingest_partition] = known


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, from `start` to `end` in its piece."""

    start: int
    end: int
    content: bytes


def _unshared(accounts: Collection[Account]) -> Mapping[str, str]:
    """Returns keys by account name, without names shared by two regions, whose logs can't be distinguished."""
    names = [account.name for account in accounts]
    return {account.name: account.key for account in accounts if names.count(account.name) == 1}


def _read(piece: Piece) -> tuple[PieceResult, Sequence[BatchEvent]]:
    """Parses the lines of a piece, or skips the rest of an oversized one."""
    if piece.skipping:
        rest = _resume_lines(piece.body)
        return PieceResult(rest or len(piece.body), skipping=rest is None), ()
    read, events = _parsed(piece)
    if not read.consumed and piece.is_full:
        reason = f"It has more than {MAX_LINE} bytes."
        refusal = BadUnit(piece.offset, MAX_LINE, reason, _sample(piece.body))
        return PieceResult(len(piece.body), units=1, refused=BadUnits(1, [refusal]), skipping=True), ()
    return read, events


def _parsed(piece: Piece) -> tuple[PieceResult, Sequence[BatchEvent]]:
    """Parses as many lines as have events of at most 80 minutes, or until 50,000 were rejected."""
    events, refused, minutes, consumed = list[BatchEvent](), BadUnits(), set[int](), 0
    account = account_of(piece.entry.name)
    mark = len(BOM_UTF8) if not piece.offset and piece.body.startswith(BOM_UTF8) else 0
    end = piece.body[max(piece.body.rfind(b"\n") + 1, mark) :]
    for line in _cut_lines(piece.body, last=piece.is_last or is_whole_record(end)):
        content = line.content if line.start else line.content[mark:]
        try:
            event = parse_event(content, account) if content else None
        except RecordError as error:
            sample = _sample(content) if refused.has_room else b""
            refused.add(BadUnit(piece.offset + line.start, error.position, str(error), sample))
            event = None
        if event:
            minutes.add(minute_of(event.at))
            if len(minutes) > _MAX_MINUTES:
                break
            events.append(event)
        consumed = line.end
        if refused.count >= _ENOUGH_REFUSED:
            break
    return PieceResult(consumed, len(events) + refused.count, refused=refused), events


def _cut_lines(piece: bytes, *, last: bool) -> Iterator[_Line]:
    """Yields lines, also empty ones, without their ends (LF or CRLF); after the `last` piece a line needs no end."""
    start = 0
    while (end := piece.find(b"\n", start)) >= 0 or (last and start < len(piece)):
        after = end + 1 if end >= 0 else len(piece)
        yield _Line(start, after, piece[start:after].strip())
        start = after


def _resume_lines(piece: bytes) -> int | None:
    """Returns where the next line begins in a piece that begins within one, or None."""
    return piece.find(b"\n") + 1 or None


def _sample(content: bytes) -> bytes:
    """Returns the beginning of a line, redacted before it is cut, as part of a secret isn't recognizable."""
    return redacted_begin(content[: 4 * (_READ + 1)].decode(errors="replace"), _READ)[:_SAMPLE].encode()


def _added(totals: Totals, read: PieceResult, fresh: Sequence[BatchEvent], *, repeats: int) -> Totals:
    times = [event.at for event in fresh] + ([totals.latest] if totals.latest else [])
    return Totals(
        units=totals.units + read.units,
        stored=totals.stored + len(fresh),
        repeats=totals.repeats + repeats,
        refused=totals.refused + read.refused.count,
        bytes=totals.bytes + read.consumed,
        latest=max(times, default=None),
    )
