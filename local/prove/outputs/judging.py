"""Judges whether polling kept its pace and keeping its limits while many tasks failed. Pure: no clock, no network.

A host counts tasks by the minute in which it reserves them, and reads them a little later. So a minute of the clock may
have the requests of one batch more than the limit.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from local.prove.exact.judging import ShownJob
from local.prove.outputs.kept_outputs import LastLook
from local.prove.outputs.observing import Age, EmulatorLook, GroupLook, HostLook, Observations
from local.prove.stack.truth import FIELDS

ROUNDS = 3
"""Within which counts must be right and exact again, as in `prove exact`."""
PATIENCE = 300.0
"""Seconds after the last failure within which each group must have an example."""
CALLS_OF_A_TASK = 4
"""Size and end of both streams."""
_BATCH = 8  # tasks that are reserved together
_MINUTE = 60.0  # seconds
_ENOUGH = 0.95  # of the tasks must fail within a minute
_GRACE = 60.0  # seconds beside ROUNDS intervals that counts may be old


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings of the host: seconds between rounds, and what may be read of outputs and of Batch in all."""

    interval: float
    tasks_a_minute: int
    bytes_a_day: int
    calls_a_minute: int

    @property
    def oldest(self) -> float:
        """The age of counts that is allowed, in seconds."""
        return ROUNDS * self.interval + _GRACE


@dataclass(frozen=True, slots=True)
class Outburst:
    """When tasks failed, in seconds of the monotonic clock, and the most that did so within a minute."""

    began: float
    ended: float
    fastest: int

    def phase(self, moment: float) -> str:
        return PHASES[(moment > self.began) + (moment > self.ended)]


PHASES = ("before", "while they fail", "after")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a run found. `causes` are exit codes with the true number of tasks.

    `unsettled` are jobs whose counts weren't exact at the end, while nothing moved.
    """

    limits: Limits
    causes: Counter[int]
    nodes: int
    seen: Observations
    outputs: LastLook
    unsettled: Sequence[str]
    defects: Sequence[str]


def outburst(looks: Sequence[EmulatorLook]) -> Outburst:
    """Returns when tasks began and ended to fail; looks that see none failed yet come first."""
    last = looks[-1].failed
    began = max((look.moment for look in looks if not look.failed), default=looks[0].moment)
    ended = next(look.moment for look in looks if look.failed == last)
    moments = [look.moment for look in looks]
    fastest = max(looks[bisect_right(moments, look.moment + _MINUTE) - 1].failed - look.failed for look in looks)
    return Outburst(began, ended, fastest)


def round_moments(looks: Sequence[EmulatorLook]) -> list[float]:
    """Returns when rounds began, as precisely as looks are frequent."""
    return [after.moment for before, after in pairwise(looks) for _ in range(after.rounds - before.rounds)]


def rounds_to_exact(
    shown: Iterable[tuple[float, ShownJob]], tasks: int, ended: float, rounds: Sequence[float]
) -> int | None:
    """Returns how many rounds began after the last failure until the job was exact for good, None if it never was."""
    flawed, since = True, ended
    for moment, job in shown:
        if moment > ended:
            if (is_flawed := not _is_right(job, tasks)) != flawed:
                since = moment
            flawed = is_flawed
    return None if flawed else sum(ended < moment <= since for moment in rounds)


def _is_right(job: ShownJob, tasks: int) -> bool:
    counts = dict(zip(FIELDS, job.counts, strict=True)) if job.counts else {}
    return job.level == "exact" and counts.get("failed") == counts.get("total") == tasks


def by_minute(looks: Sequence[EmulatorLook], name: str) -> Counter[str]:
    """Returns how much a counter grew in each minute of the clock."""
    grown = Counter[str]()
    for before, after in pairwise(looks):
        grown[f"{after.at:%H:%M}"] += getattr(after, name) - getattr(before, name)
    return grown


def first_examples(looks: Iterable[GroupLook], codes: Iterable[int]) -> dict[int, float]:
    """Returns when each exit code first had a kept output."""
    found: dict[int, float] = {}
    wanted = set(codes)
    for look in looks:
        for code, kept in look.kept.items():
            if kept and code in wanted:
                found.setdefault(code, look.moment)
    return found


def intervals(rounds: Sequence[float], burst: Outburst) -> dict[str, list[float]]:
    """Returns the seconds between rounds, by the phase in which the later one began."""
    found: dict[str, list[float]] = {phase: [] for phase in PHASES}
    for before, after in pairwise(rounds):
        found[burst.phase(after)].append(after - before)
    return found


def oldest(ages: Iterable[Age], burst: Outburst) -> dict[str, Age | None]:
    """Returns the oldest counts of each phase."""
    found: dict[str, Age | None] = dict.fromkeys(PHASES)
    for age in ages:
        phase = burst.phase(age.moment)
        if (before := found[phase]) is None or before.as_of < age.as_of:
            found[phase] = age
    return found


def cores(looks: Sequence[HostLook], burst: Outburst) -> dict[str, float]:
    """Returns how many cores the host kept busy in each phase, on average."""
    found: dict[str, float] = {}
    for phase in PHASES:
        some = [look for look in looks if burst.phase(look.moment) == phase]
        span = some[-1].moment - some[0].moment if some else 0.0
        found[phase] = (some[-1].cpu - some[0].cpu) / span if span else 0.0
    return found


def summary(values: Sequence[float]) -> str:
    return f"{median(values):.0f} s, at most {max(values):.0f} s ({len(values)})" if values else "none"


def problems(found: Evidence) -> Iterator[str]:
    """Yields a sentence for each bar that doesn't hold."""
    burst, tasks = outburst(found.seen.emulator), found.causes.total()
    if burst.fastest < _ENOUGH * tasks:
        yield f"only {burst.fastest:,} of {tasks:,} tasks failed within a minute"
    yield from _of_pace(found, burst, tasks)
    yield from _of_limits(found)
    yield from _of_examples(found, burst)
    yield from found.outputs.wrong
    if found.defects:
        yield f"{len(found.defects)} defects in the host's log, the first: {found.defects[0]}"


def _of_pace(found: Evidence, burst: Outburst, tasks: int) -> Iterator[str]:
    for phase, age in oldest(found.seen.ages, burst).items():
        if age is None:
            yield f"no job was looked at {phase}"
        elif age.as_of > found.limits.oldest:
            yield f"{phase}, counts of {age.job} were {age.as_of:.0f} s old, more than {found.limits.oldest:.0f} s"
    rounds = rounds_to_exact(found.seen.shown, tasks, burst.ended, round_moments(found.seen.emulator))
    if rounds is None or rounds > ROUNDS:
        taken = "never" if rounds is None else f"only after {rounds} rounds"
        yield f"counts of the failing job were {taken} right and exact"
    yield from found.unsettled


def _of_limits(found: Evidence) -> Iterator[str]:
    looks, limits = found.seen.emulator, found.limits
    if (read := looks[-1].file_bytes) > limits.bytes_a_day:
        yield f"{read:,} bytes were read of files, more than the {limits.bytes_a_day:,} of a day"
    most = CALLS_OF_A_TASK * (limits.tasks_a_minute + _BATCH)
    for minute, number in by_minute(looks, "file_requests").items():
        if number > most:
            yield f"at {minute} there were {number} requests for files, more than {most}"
    minutes = sum(number > 0 for number in by_minute(looks, "file_requests").values())
    if (number := looks[-1].file_requests) > CALLS_OF_A_TASK * limits.tasks_a_minute * minutes:
        yield f"{number} requests for files in {minutes} minutes are more than {limits.tasks_a_minute} tasks a minute"
    for minute, number in by_minute(looks, "calls").items():
        if number > limits.calls_a_minute:
            yield f"at {minute} the host sent {number} requests to Batch, more than {limits.calls_a_minute}"


def _of_examples(found: Evidence, burst: Outburst) -> Iterator[str]:
    if found.outputs.groups != found.causes:
        yield f"groups and their counts differ from the truth: {dict(found.outputs.groups - found.causes)} too many"
    examples = first_examples(found.seen.groups, found.causes)
    if without := sorted(found.causes.keys() - examples.keys()):
        yield f"{len(without)} of {len(found.causes)} groups have no example; their exit codes are {without}"
    if late := [code for code, moment in examples.items() if moment > burst.ended + PATIENCE]:
        yield f"{len(late)} groups had their first example more than {PATIENCE:.0f} s after the last failure"
    if not found.outputs.texts or not found.outputs.reasons:
        yield "no kept output, or none that wasn't kept, was asked for"
