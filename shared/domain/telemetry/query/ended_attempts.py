"""Sums over the ended attempts of a task, from the series of the node agent's record at the end of each."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.telemetry.catalog.catalog import ENDED_ATTEMPTS
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups

NAMES = ENDED_ATTEMPTS.removesuffix(".")
"""Selects all series of ended attempts."""
_START = "batchscope.task.attempt"
_CPU_SOURCE, _MEMORY_SOURCE = "batchscope.cpu.source", "batchscope.memory.source"
_DIRECTION = "disk.io.direction"
_MAX_SECONDS = 253_402_300_799  # 9999-12-31
_NANOSECONDS = 1_000_000  # a millisecond


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An attempt's use of its node; None where the agent didn't write a figure.

    The agent saw the end at `end`, up to `duration_uncertainty` seconds late. CPU times are in seconds: `cpu_missed` is
    the most that `cpu_time` lacks, and `cpu_source` where it comes from (`exit_accounting` or `samples`). Peaks and
    disk I/O are in bytes: the peak of memory is the `kernel`'s or of `samples`. `gpu_usage` is the mean number of GPUs
    in use.
    """

    start: datetime
    end: datetime
    duration: float | None = None
    duration_uncertainty: float | None = None
    cpu_time: float | None = None
    cpu_missed: float | None = None
    cpu_source: str | None = None
    memory_peak: int | None = None
    memory_source: str | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    threads: int | None = None
    gpu_memory_peak: int | None = None
    gpu_usage: float | None = None


def start_of(attempt: str) -> datetime | None:
    """Returns the start that an attempt is named by: seconds since 1970; None for another name."""
    is_start = attempt.isascii() and attempt.isdigit() and int(attempt) <= _MAX_SECONDS
    return from_milliseconds(int(attempt) * 1000) if is_start else None


def ended_attempts(rollups: Rollups, since: datetime) -> Sequence[EndedAttempt]:
    """Returns the attempts that series of minutes or hours describe and that started after `since`, latest first.

    Each series has a single sample; a repetition while minutes become hours changes nothing.
    """
    found: dict[str, dict[tuple[str, str], Rollup]] = defaultdict(dict)
    sources: dict[str, Mapping[str, str]] = {}
    for series, periods in rollups.items():
        own = dict(series.attributes)
        attempt = own.get(_START, "")
        if series.name.startswith(ENDED_ATTEMPTS) and periods:
            figure = series.name.removeprefix(ENDED_ATTEMPTS), own.get("cpu.mode") or own.get(_DIRECTION) or ""
            found[attempt][figure] = max(periods.values(), key=lambda one: one.last_at)
            sources[attempt] = own
    starts = {attempt: start_of(attempt) for attempt in found}
    known = sorted(((start, attempt) for attempt, start in starts.items() if start and start >= since), reverse=True)
    return [_attempt(start, found[attempt], sources[attempt]) for start, attempt in known]


def _attempt(start: datetime, figures: Mapping[tuple[str, str], Rollup], sources: Mapping[str, str]) -> EndedAttempt:
    def value(name: str, part: str = "") -> float | None:
        found = figures.get((name, part))
        return found.last if found else None

    def whole(name: str, part: str = "") -> int | None:
        found = value(name, part)
        return None if found is None else round(found)

    user, system = value("cpu.time", "user"), value("cpu.time", "system")
    end = max(one.last_at for one in figures.values())
    return EndedAttempt(
        start=start,
        end=max(from_milliseconds(end // _NANOSECONDS), start),
        duration=value("duration"),
        duration_uncertainty=value("duration_uncertainty"),
        cpu_time=None if user is None or system is None else user + system,
        cpu_missed=value("cpu.missed"),
        cpu_source=sources.get(_CPU_SOURCE),
        memory_peak=whole("memory.peak"),
        memory_source=sources.get(_MEMORY_SOURCE),
        read_bytes=whole("disk.io", "read"),
        written_bytes=whole("disk.io", "write"),
        threads=whole("threads"),
        gpu_memory_peak=whole("gpu.memory.peak"),
        gpu_usage=value("gpu.usage"),
    )
