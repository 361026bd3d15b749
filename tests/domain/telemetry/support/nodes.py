"""Records as a TES node writes them, and an intake's results for lines of text."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec.structs import replace

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.decode.decoding import Step
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup, Rollups, merged
from shared.domain.telemetry.sessions.blob_state import IngestResult, State
from shared.domain.telemetry.sessions.intake import Intake, Window
from tests.domain.telemetry.support.reading import record

WINDOW = Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))
SECOND = 1_000_000_000
BEGIN = 28_553_403 * MINUTE
ONCE = {"vm_monitor_collection": "once"}


def intake(identity: Identity | None = None, state: State | None = None) -> Intake:
    return Intake(identity or Identity(), WINDOW, state)


def step(metrics: Iterable[Metric], end: int = 0) -> Step:
    return Step(0, end, list(metrics))


def at(second: float, line: str) -> Metric:
    """Returns the record of a line, `second` seconds after BEGIN."""
    return replace(record(line), time=BEGIN + round(second * SECOND))


def once(measurement: str, second: float = 0, /, tags: dict[str, str] | None = None, **fields: Value) -> Metric:
    return Metric(measurement, {**ONCE, **(tags or {})}, fields, BEGIN + round(second * SECOND))


def variable(name: str, value: str, second: float = 0) -> Metric:
    return once("exec.env", second, key=name, value=value)


def taken(*lines: Metric) -> IngestResult:
    return intake().take(step(lines))


def rollups(*lines: Metric) -> Rollups:
    """Returns the rollups of all sessions together."""
    return merged(taken(*lines).rollups.values())


def only(found: Rollups) -> tuple[Series, Rollup]:
    ((series, minutes),) = found.items()
    (rollup,) = minutes.values()
    return series, rollup


def flat(found: Mapping[Series, Mapping[int, Rollup]]) -> dict[tuple[Series, int], Rollup]:
    return {(series, period): rollup for series, periods in found.items() for period, rollup in periods.items()}


def used(second: float, tags: str) -> Metric:
    return at(second, f"mem,{tags} used={second}")


def counted(lines: Iterable[Metric], identity: Identity | None = None, *, singly: bool = False) -> dict[Identity, int]:
    """Returns the number of values by identity.

    The intake reads all lines in one step, or each in its own with the state packed in between (`singly`).
    """
    reader, whose, values, found = intake(identity), dict[int, Identity](), Counter[int](), Counter[Identity]()
    for part in [[line] for line in lines] if singly else [list(lines)]:
        answer = reader.take(step(part))
        whose |= {number: session.whose for number, session in answer.sessions.items()}
        for number, rollups in answer.rollups.items():
            values[number] += sum(one.count for one in flat(rollups).values())
        reader = intake(identity, State.unpack(reader.state.pack()))
    for number, count in values.items():
        found[whose[number]] += count
    return found
