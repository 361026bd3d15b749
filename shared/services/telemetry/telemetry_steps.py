"""Reads as many units of a piece of a blob as fit into one transaction.

A unit that doesn't fit alone is read again with few new tasks, so that very many short ones don't take their node's
figures with them. One that doesn't fit then is rejected, as no agent writes such a unit: many thousands of minutes of
series, or many days, in one write. In text a unit is a line.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.domain.blobs.rejects import BadUnit, BadUnits
from shared.domain.events.batch_events import BatchEvent
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.decode.frames import form_at, line_rest
from shared.domain.telemetry.records.bounds import MAX_SEARCHED_NAMES, MAX_WORK, STEP
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import InvalidPart
from shared.domain.telemetry.rollups.chunks import Chunk, chunks_of
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.domain.telemetry.sessions.blob_state import IngestResult, ShapeCache, State
from shared.domain.telemetry.sessions.intake import Intake, Window
from shared.domain.telemetry.sessions.session import Session
from shared.services.blobs.blob_intake import Piece
from shared.stores.telemetry.telemetry import MAX_ROW

_ENOUGH_CELLS, _MAX_CELLS = 28_000, 32_000  # minutes of series: 55 bytes each at worst, a third more on the wire
_ENOUGH_ROWS, _MAX_ROWS = 40, 90
_FEW_TASKS = 10  # that may be new in a unit that doesn't fit; each takes up to three rows
_AT_ONCE = 60_000  # values rolled up together: few values make many rollups to merge, many take memory
_VALUES = 4  # of a minute of a series, or more; if most have fewer, half a piece is read again
_ENOUGH_MISTAKES = 10_000  # some tenths of a second of work, from few bytes if compressed
_MAX_BYTES = 2_200_000  # a transaction holds four MiB, and base64 adds a third
_IN_TEXT = " (the position is that in its text, decompressed)"
_TOO_MUCH = "It has more hours, series or nodes at once than there is room for."


@dataclass(frozen=True, slots=True)
class Context:
    """The other inputs of a reading: the blob's labels, the window of times, and the state before the piece.

    `shapes` may be shared with other blobs. At most `new_tasks` tasks may be new, None is no bound.
    """

    identity: Identity
    window: Window
    packed: bytes
    shapes: ShapeCache = field(default_factory=ShapeCache)
    new_tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """The result of the first `consumed` bytes of a piece, and the packed state after them.

    `lost` of them are behind damage and in no unit. If they end within damage (`in_damage`), the next unit must be
    searched for. `renamed` sessions existed before, under another node or task, or none. `rollups` are by session,
    whose identities are `whose`, as far as they are known.
    """

    consumed: int = 0
    packed: bytes = b""
    units: int = 0
    samples: int = 0
    refused: BadUnits = field(default_factory=BadUnits)
    sessions: Mapping[int, Session] = field(default_factory=dict)
    left_out: DroppedCounts = field(default_factory=DroppedCounts)
    lost: int = 0
    in_damage: bool = False
    chunks: Sequence[Chunk] = ()
    ends: Sequence[int] = ()
    renamed: Collection[int] = ()
    rollups: Mapping[int, Rollups] = field(default_factory=dict)
    events: Sequence[BatchEvent] = ()
    attempts: Sequence[MeasuredAttempt] = ()
    whose: Mapping[int, Identity] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """Returns whether it fits into one transaction; the number of minutes shows in `chunks`."""
        sizes = [len(self.packed), *(sum(map(len, chunk.columns.values())) for chunk in self.chunks)]
        facts = sum(len(str(session)) for session in self.sessions.values())
        is_small = max(sizes) <= MAX_ROW and sum(sizes) + facts <= _MAX_BYTES
        return is_small and len(self.sessions) + len(self.chunks) <= _MAX_ROWS


@dataclass(slots=True)
class _StepRejects:
    """Rejects of a blob's steps in stored form, in `found`: for each unit the first reason, and the number of others.

    Those of a unit in several parts are added with its last part. They have no samples, as part of a secret isn't
    recognizable.
    """

    found: BadUnits = field(default_factory=BadUnits)
    _rejected: list[InvalidPart] = field(default_factory=list)
    _bad: int = 0

    def add(self, step: Step) -> None:
        """Adds a reject for each offset in the blob; each bad line counts."""
        self._rejected += step.rejected
        self._bad += step.bad
        if step.part_of is not None:
            return
        by_start: dict[int, list[InvalidPart]] = {}
        for one in self._rejected:
            by_start.setdefault(one.start, []).append(one)
        for start, some in by_start.items():
            self.found.add(BadUnit(start, some[0].position, _reason(some, self._bad), b""))
        self.found.count += self._bad - len(by_start)
        self._rejected, self._bad = [], 0


def read_steps(piece: Piece, context: Context) -> Steps:
    """Returns some units, at least the first if it is whole.

    Raises ValueError for the state of another program version.
    """
    size, until = STEP, None
    found, cells = _read(piece, context, size, until)
    while cells > _MAX_CELLS or not found.fits:
        if len(found.ends) > 1:
            until = found.ends[len(found.ends) // 2 - 1]
        elif 1 < found.ends[0] <= size and form_at(piece.body, 0) is Form.TEXT:
            size, until = found.ends[0] // 2, None
        elif context.new_tasks is None:
            context, until = replace(context, new_tasks=_FEW_TASKS), found.ends[0]
        else:
            return _refused(piece, context, found)
        found, cells = _read(piece, context, size, until)
    return found


def _read(piece: Piece, context: Context, size: int, until: int | None) -> tuple[Steps, int]:
    """Reads until there is enough, or up to `until`, the end of a unit; also returns the minutes of series.

    Text is read `size` bytes at a time.
    """
    state = State.unpack(context.packed) if context.packed else State()
    if state.in_line:
        end, is_over = line_rest(piece.body, is_last=piece.is_last)
        state.in_line = not is_over
        if end or state.in_line:
            return Steps(end, state.pack()), 0
    names = _names_of(state.sessions.current.values())
    intake = Intake(context.identity, context.window, state, shapes=context.shapes, new_tasks=context.new_tasks)
    result, ends, refused, step, work, lost = IngestResult(piece.offset), list[int](), _StepRejects(), None, 0, 0
    decoder = Decoder(together=True, size=size)
    for step in decoder.steps(piece.body, piece.offset, is_last=piece.is_last, in_damage=piece.skipping):
        intake.gather(step, result)
        refused.add(step)
        work, lost = work + step.work, lost + step.lost
        if intake.gathered_values >= min(_AT_ONCE, _VALUES * (_MAX_CELLS - result.cells)):
            intake.sum_up(result)
        if step.part_of is not None and result.cells <= _MAX_CELLS:
            continue
        ends.append((step.part_of or step.end) - piece.offset)  # a unit without room isn't read to its end
        share = max(work / MAX_WORK, intake.searched / MAX_SEARCHED_NAMES, refused.found.count / _ENOUGH_MISTAKES)
        is_enough = share >= 1 or _is_enough(result)
        if is_enough or ends[-1] == until:
            break
    consumed, state.in_line = _behind_line(piece, step, ends[-1] if ends else 0)
    found = replace(_summed_up(intake, result, refused.found), consumed=consumed, lost=lost, ends=ends)
    found = replace(found, in_damage=step.in_damage if step else piece.skipping)
    return replace(found, renamed=_renamed(names, result.sessions.values())), result.cells


def _behind_line(piece: Piece, step: Step | None, end: int) -> tuple[int, bool]:
    """Returns the position behind an overlong line at the end, and whether its rest follows."""
    if step is None or not step.in_line:
        return end, False
    rest, is_over = line_rest(piece.body[end:], is_last=piece.is_last)
    return end + rest, not is_over


def _names_of(sessions: Iterable[Session]) -> dict[int, tuple[str, str, str]]:
    """Returns nodes, jobs and tasks, by which sessions are found."""
    known = {session.number: session.whose for session in sessions}
    return {number: (whose.node, whose.job, whose.task) for number, whose in known.items()}


def _renamed(before: Mapping[int, tuple[str, str, str]], sessions: Iterable[Session]) -> Collection[int]:
    return [number for number, names in _names_of(sessions).items() if before.get(number, names) != names]


def _summed_up(intake: Intake, result: IngestResult, refused: BadUnits) -> Steps:
    """Returns the result of gathered units."""
    intake.sum_up(result)
    result.dropped.refused = refused.count
    sessions = (*intake.state.sessions.current.values(), *result.sessions.values())
    return Steps(
        packed=intake.state.pack(),
        units=result.dropped.records + refused.count,
        samples=sum(one.count for some in result.rollups.values() for cells in some.values() for one in cells.values()),
        refused=refused,
        sessions=result.sessions,
        left_out=result.dropped,
        chunks=[chunk for number, some in sorted(result.rollups.items()) for chunk in chunks_of(number, some)],
        rollups=result.rollups,
        events=result.events,
        attempts=result.attempts,
        whose={session.number: session.whose for session in sessions},
    )


def _is_enough(result: IngestResult) -> bool:
    return result.cells >= _ENOUGH_CELLS or len(result.sessions) + len(result.hours) >= _ENOUGH_ROWS


def _refused(piece: Piece, context: Context, found: Steps) -> Steps:
    """Returns the first unit as rejected for lack of room; reading continues after it with the previous state."""
    refused = BadUnits(1, [BadUnit(piece.offset, 0, _TOO_MUCH, b"")])
    packed = context.packed or State().pack()
    return Steps(found.consumed, packed, 1, refused=refused, left_out=DroppedCounts(refused=1), lost=found.lost)


def _reason(some: Sequence[InvalidPart], bad: int) -> str:
    """Returns the reason of rejects at one offset; within a compressed unit these are all its bad lines."""
    first = some[0]
    sentence = first.reason[:1].upper() + first.reason[1:]
    more = (max(bad, len(some)) if first.compressed else len(some)) - 1
    where = _IN_TEXT if first.compressed and first.position else ""
    return f"{sentence}{where}{f'; and {more:,} more in this unit' if more else ''}."
