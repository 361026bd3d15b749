"""Ingestion of node telemetry: an incarnation's rows are in one partition, where each rollup counts once.

The state between pieces is stored there too, in the transaction that advances the checkpoint. The index of nodes is
written before, so that all counted samples can be found. So are events and ended runs of tasks, in rows that a
repetition writes again (docs/adr/0037, 0040).
"""

import asyncio
import secrets
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.blobs import BlobRows, Entry, SeenBlob, account_in, group_of, telemetry_ingest_partition
from shared.domain.blobs.uncharted_blobs import ArrivedBlob
from shared.domain.telemetry.decode.formats import format_of
from shared.domain.telemetry.pools.node_minutes import StepMinutes, step_minutes
from shared.domain.telemetry.records.bounds import WINDOW
from shared.domain.telemetry.records.labels import Identity, PathPattern
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY
from shared.domain.telemetry.rollups.intake_counts import REASONS, TelemetryTotals
from shared.domain.telemetry.sessions.blob_state import ShapeCache
from shared.domain.telemetry.sessions.intake import Window
from shared.recent_cache import RecentCache
from shared.services.blobs.blob_intake import Intake, Piece, PieceResult
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.pool_projection import PoolProjection
from shared.services.telemetry.telemetry_steps import Context, Steps, read_steps
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.tables.rows import Etags
from shared.stores.telemetry.node_index import IndexPlace, task_name
from shared.stores.telemetry.telemetry import BlobState, checkpoint_key, chunk_rows, session_row, state_key, state_row

_LONG_AGO = timedelta(days=1)  # since when a blob's entry may have expired
_AHEAD = timedelta(hours=1)  # how far a node's clock may be ahead
_ACCOUNT, _SEVERAL = "account", 2
_OF_NONE = -1  # the session number of data without a session
_EPOCH = date(1970, 1, 1).toordinal()
_MAX_STATES, _LARGE = 32 << 20, 1 << 15  # bytes of cached states of blobs, and of the largest
_BESIDE = 1000  # bytes of a cached state's key and counts
_MAX_KNOWN_ROWS = 100_000  # cached rows of the index
_READER = ThreadPoolExecutor(1, "telemetry")
"""Reads one piece after another; parallel reads would take more CPU and three times the memory, and no less time."""
type _Indexed = tuple[int, int]
"""Session and day of a blob's row in the index."""


@dataclass(eq=False)
class TelemetryIntake(Intake):
    """Ingestion of node telemetry.

    `pattern` finds a blob's account and node in its name; samples older than `retention` are skipped.
    """

    window = WINDOW
    at_once = 8
    accounts: Collection[Account]
    pattern: PathPattern
    stores: IngestionStores
    clock: Clock
    retention: timedelta
    _known_rows: RecentCache[BlobRows, frozenset[_Indexed]] = field(
        default_factory=lambda: RecentCache(_MAX_KNOWN_ROWS), init=False
    )
    _counted: dict[str, TelemetryTotals] = field(default_factory=dict, init=False)
    _adding: dict[str, tuple[str, TelemetryTotals]] = field(default_factory=dict, init=False)
    _shapes: ShapeCache = field(default_factory=ShapeCache, init=False)
    _states: RecentCache[BlobRows, tuple[int, BlobState]] = field(
        default_factory=lambda: RecentCache(_MAX_STATES), init=False
    )
    _pools: PoolProjection = field(init=False)

    def __post_init__(self) -> None:
        self._pools = PoolProjection(self.stores, self.clock, self.retention)

    @property
    def ingest_partitions(self) -> Collection[str]:
        return [telemetry_ingest_partition(account.key) for account in self.accounts]

    def ingest_partition_of(self, blob_name: str) -> str | None:
        """Returns the ingest partition of the watched account in the name; of the only one, if the name has none."""
        found = self._accounts_of(blob_name)
        return telemetry_ingest_partition(found[0].key) if len(found) == 1 else None

    def why_unread(self, blob_name: str) -> str | None:
        """Returns a reason if the name fits several watched accounts; None if it names other accounts."""
        found = self._accounts_of(blob_name)
        if len(found) < _SEVERAL:
            return None
        return f"TELEMETRY_PATH finds no {{account}} in it, and it may be of {len(found)} that are watched"

    async def group_of(self, ingest_partition: str, blob: SeenBlob) -> str:
        """Returns a node's blobs' group, but none for a blob that has rows of its own, though its entry has expired."""
        identity = self.pattern.identity(blob.name)
        if not identity.node:
            return ""
        if await self.clock.now() - blob.created > _LONG_AGO:
            own = Entry(blob.name, blob.created, blob.modified)
            if (await self.stores.checkpoints.load(self.checkpoint_key(ingest_partition, own))).row_etag:
                return ""
        return group_of(identity.pool, identity.node, blob.created)

    def checkpoint_key(self, ingest_partition: str, entry: Entry) -> CheckpointKey:
        return checkpoint_key(entry.rows(account_in(ingest_partition)))

    async def take(self, piece: Piece) -> PieceResult:
        """Returns the contribution of as many units as fit into a transaction. Raises StorageError."""
        blob = piece.entry.rows(account_in(piece.ingest_partition))
        state = await self._state(blob, piece.offset)
        context = await self._context(piece, state)
        read, minutes = await asyncio.get_running_loop().run_in_executor(_READER, _read, piece, context)
        if not read.chunks:
            await self._note_arrival(blob, piece, read)
        if not read.consumed:
            self._remember(blob, piece.offset, state)
            return PieceResult(0)
        if read.events:
            await self.stores.events.save_once(blob.account_key, read.events)
        if read.attempts:
            now = await self.clock.now()
            await self.stores.attempts.add(blob.account_key, blob.incarnation, read.attempts, now)
        indexed = await self._indexed(blob, read)
        left_out = state.left_out.plus(read.left_out)
        rows = [
            state_row(blob, state, read.packed, left_out),
            *(session_row(blob, session) for session in read.sessions.values()),
            *chunk_rows(blob, piece.offset, read.chunks),
        ]

        def stored(etags: Etags) -> None:
            self._note_known(blob, indexed)
            self._count(piece.ingest_partition, _totals_of(read))
            self._pools.note(piece.entry.name, blob, minutes)
            state = BlobState(read.packed, left_out, etags[state_key(blob)])
            self._remember(blob, piece.offset + read.consumed, state)

        return PieceResult(read.consumed, read.units, rows, read.refused, skipping=read.in_damage, stored=stored)

    async def write_counts(self, ingest_partition: str) -> None:
        """Projects the rows of pools, and adds to the account's totals.

        An addition of unknown outcome is repeated first, under its own mark.
        """
        await self._pools.write(account_in(ingest_partition))
        while counted := self._adding.get(ingest_partition) or self._next_counted(ingest_partition):
            mark, more = self._adding[ingest_partition] = counted
            await self.stores.totals.add(account_in(ingest_partition), more, await self.clock.now(), mark)
            if self._adding.get(ingest_partition) is counted:  # a concurrent call may have begun the next addition
                del self._adding[ingest_partition]

    def _next_counted(self, ingest_partition: str) -> tuple[str, TelemetryTotals] | None:
        more = self._counted.pop(ingest_partition, None)
        return (secrets.token_hex(4), more) if more else None

    def _count(self, ingest_partition: str, more: TelemetryTotals) -> None:
        self._counted[ingest_partition] = self._counted.get(ingest_partition, TelemetryTotals()).plus(more)

    def _accounts_of(self, blob_name: str) -> Sequence[Account]:
        """Returns watched accounts that the blob may belong to."""
        named = self.pattern.labels(blob_name).get(_ACCOUNT)
        return [one for one in self.accounts if named is None or named.lower() in (one.name.lower(), one.id.lower())]

    async def _state(self, blob: BlobRows, offset: int) -> BlobState:
        """Returns the state after the previous piece, written with its checkpoint; empty before the first."""
        if not offset:
            return BlobState()
        cached = self._states.pop(blob)
        return cached[1] if cached and cached[0] == offset else await self.stores.telemetry.load_state(blob)

    def _remember(self, blob: BlobRows, offset: int, state: BlobState) -> None:
        """Caches the state for the piece at `offset`; if another host has written since, that lies further on."""
        if len(state.packed) <= _LARGE:
            self._states.put(blob, (offset, state), len(state.packed) + _BESIDE)

    async def _context(self, piece: Piece, state: BlobState) -> Context:
        now = await self.clock.now()
        window = Window(now - self.retention, now + _AHEAD)
        return Context(self.pattern.identity(piece.entry.name), window, state.packed, self._shapes)

    async def _indexed(self, blob: BlobRows, read: Steps) -> set[_Indexed]:
        """Writes index rows for the days of sessions, as far as they may be new.

        If a session's node or task is named after its first samples, their days are indexed again under that name.
        """
        wanted = {(chunk.session, chunk.block // HOURS_A_DAY) for chunk in read.chunks}
        moved = {(number, day) for number in read.renamed for day in await self._days_of(blob, number)}
        known = self._known(blob)
        new = sorted({one for one in wanted if one not in known or one[0] in read.renamed} | moved)
        whose = await self._whose(blob, read, {number for number, _ in new})
        places = [IndexPlace(name, number, day) for number, day in new for name in _names_of(whose[number])]
        if places:
            await self.stores.node_index.save(blob, places)
        return wanted

    def _known(self, blob: BlobRows) -> frozenset[_Indexed]:
        """Returns the blob's rows in the index that this host wrote lately."""
        return self._known_rows.get(blob) or frozenset()

    def _note_known(self, blob: BlobRows, more: Collection[_Indexed]) -> None:
        known = self._known(blob).union(more)
        self._known_rows.put(blob, known, len(known))

    async def _days_of(self, blob: BlobRows, number: int) -> set[int]:
        return await self.stores.telemetry.days_of(blob.partition, blob.session_key(number))

    async def _note_arrival(self, blob: BlobRows, piece: Piece, read: Steps) -> None:
        """Records once a day that data without any series arrived, for each identity that it may belong to."""
        day = (await self.clock.now()).toordinal() - _EPOCH
        if not piece.body or (_OF_NONE, day) in self._known(blob):
            return
        sessions = {number: session.whose for number, session in read.sessions.items()}
        if not sessions and piece.offset:
            sessions = await self.stores.telemetry.load_sessions(blob)
        whose = set(sessions.values()) or {self.pattern.identity(piece.entry.name)}
        seems = "" if piece.offset else await asyncio.to_thread(format_of, piece.body)
        for one in whose:
            arrival = ArrivedBlob(blob, piece.entry.name, seems, one.pool)
            await self.stores.node_index.save_arrival(one.node, day, arrival)
        self._note_known(blob, {(_OF_NONE, day)})

    async def _whose(self, blob: BlobRows, read: Steps, numbers: set[int]) -> dict[int, Identity]:
        """Returns the identities of sessions, as read or else as stored."""
        found = {number: session.whose for number, session in read.sessions.items()}
        if not numbers <= found.keys():
            found = await self.stores.telemetry.load_sessions(blob) | found
        return {number: found.get(number, Identity()) for number in numbers}


def _read(piece: Piece, context: Context) -> tuple[Steps, StepMinutes]:
    """Returns some units of a piece, and the minutes of nodes in them."""
    read = read_steps(piece, context)
    end, is_renamed = piece.offset + read.consumed, bool(read.renamed)
    return read, step_minutes(piece.offset, end, read.rollups, read.whose, is_renamed=is_renamed)


def _names_of(whose: Identity) -> Sequence[str]:
    """Returns the names under which the index has a session."""
    return [whose.node, task_name(whose.job, whose.task)] if whose.job and whose.task else [whose.node]


def _totals_of(read: Steps) -> TelemetryTotals:
    counts = read.left_out
    left_out = {name: getattr(counts, name) for name in REASONS} | {"unknown": sum(counts.unknown.values())}
    consumed = read.consumed - read.lost
    return TelemetryTotals(None, consumed, counts.records, read.samples, counts.refused, left_out, read.lost)
