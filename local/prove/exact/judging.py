"""Compares the API with the truth, taken while the emulator is paused. Pure: no clock, no network.

A count is comparable only if its as-of lies in the pause. As-of is a `Date`, which has whole seconds, so the pause
counts from the next whole second.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from local.prove.stack.truth import FIELDS

VALIDATED_TASKS = 200_000  # above this the service validates no counts, so `unverified` is the best possible level
type Truth = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A job in the API. `counts`, in the order of FIELDS, and `as_of` are None before its first read."""

    id: str
    is_deleted: bool
    level: str
    as_of: datetime | None
    reason: str
    counts: tuple[int, ...] | None

    @property
    def key(self) -> str:
        return self.id.lower()

    def claims(self, since: datetime) -> bool:
        """Returns whether it is `exact` as of a moment at or after `since`."""
        return self.level == "exact" and self.as_of is not None and self.as_of >= since


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The result of one comparison: the number of comparable exact counts, and a sentence for each wrong one."""

    compared: int
    wrong: tuple[str, ...]


def read_job(answer: Mapping[str, Any]) -> ShownJob:
    """Returns a job of the API's list."""
    verdict, counts = answer["verdict"], answer.get("taskCounts")
    as_of = datetime.fromisoformat(verdict["asOf"]) if verdict.get("asOf") else None
    values = tuple(int(counts[name]) for name in FIELDS) if counts else None
    return ShownJob(answer["id"], bool(answer.get("deleted")), verdict["level"], as_of, verdict["reason"], values)


def next_whole_second(moment: datetime) -> datetime:
    """Returns the first `Date` that can't lie before `moment`."""
    floor = moment.astimezone(UTC).replace(microsecond=0)
    return floor if floor == moment else floor + timedelta(seconds=1)


def judge(shown: Iterable[ShownJob], truth: Truth, since: datetime) -> Verdicts:
    """Compares every count that is exact as of the pause, which began at `since`, with the truth."""
    true = {job.lower(): counts for job, counts in truth.items()}
    claimed = [job for job in shown if not job.is_deleted and job.claims(since)]
    return Verdicts(len(claimed), tuple(text for job in claimed if (text := _difference(job, true.get(job.key)))))


def unsettled(shown: Iterable[ShownJob], truth: Truth) -> dict[str, str]:
    """Returns the reason, by lower-case id, why a job isn't right and exact after all faults have ended."""
    live = {job.key: job for job in shown if not job.is_deleted}
    true = {job.lower(): (job, counts) for job, counts in truth.items()}
    found = {key: f"{job.id}: shown, but it doesn't exist" for key, job in live.items() if key not in true}
    for key, (name, counts) in true.items():
        if reason := _flaw(live.get(key), name, counts):
            found[key] = reason
    return found


def rounds_taken(looks: Iterable[Mapping[str, str]], jobs: Iterable[str]) -> dict[str, int | None]:
    """Returns the rounds until each job (lower-case ids) was permanently right and exact; None if it never was.

    `looks` are results of `unsettled`; the first precedes the first round.
    """
    flawed = [set(look) for look in looks]
    everyone = set(jobs).union(*flawed)
    taken = {
        job: 1 + max((number for number, look in enumerate(flawed) if job in look), default=-1) for job in everyone
    }
    return {job: rounds if rounds < len(flawed) else None for job, rounds in taken.items()}


def histogram(rounds: Iterable[int | None]) -> str:
    """Returns a text like `0: 12, 1: 30, never: 1`."""
    counted = Counter(rounds)
    parts = [f"{number}: {counted[number]}" for number in sorted(number for number in counted if number is not None)]
    return ", ".join([*parts, *([f"never: {counted[None]}"] if counted[None] else [])]) or "none"


def _flaw(job: ShownJob | None, name: str, counts: Mapping[str, Any]) -> str | None:
    if job is None:
        return f"{name}: not shown; in truth {_listed(counts)}"
    if job.id != name:
        return f"{name}: shown as {job.id}"
    if difference := _difference(job, counts):
        return difference
    enough = job.level == "exact" or (job.level == "unverified" and counts["total"] > VALIDATED_TASKS)
    return None if enough else f"{name}: the counts are right, but {job.level} as of {job.as_of}: {job.reason}"


def _difference(job: ShownJob, counts: Mapping[str, Any] | None) -> str | None:
    """Returns a detailed sentence, or None if the counts equal the truth."""
    if counts is not None and job.counts == tuple(counts[name] for name in FIELDS):
        return None
    truth = _listed(counts) if counts else "there is no such job"
    ours = _listed(dict(zip(FIELDS, job.counts, strict=True))) if job.counts else "nothing"
    return f"{job.id}: {job.level} as of {job.as_of} ({job.reason}) it says {ours}; in truth {truth}"


def _listed(counts: Mapping[str, Any]) -> str:
    state = f"{counts['state']}, " if "state" in counts else ""
    return state + " ".join(f"{counts[name]} {name}" for name in FIELDS)
