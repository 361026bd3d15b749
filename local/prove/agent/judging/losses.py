"""Losses of killed agents, and gaps in samples and in lines that were fed. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from local.prove.agent.judging.lives import ASKED, KILLED, SECOND, ProcessLife, outside
from local.prove.agent.judging.members import measurement_of, time_of
from local.prove.agent.judging.sessions import SessionUnits

_SAMPLED = "mem"  # one record each sample
_FED = "proof"
_MAX_LISTED = 3  # sentences of a kind and process


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds between samples and between flushes, and the delay that the machine may add to each."""

    interval: float
    flush: float
    slack: float

    @property
    def loss(self) -> float:
        return self.flush + self.slack


@dataclass(slots=True)
class LossFindings:
    """Seconds that each killed process lost, counts of samples and of lines that were fed, and faults."""

    losses: list[float] = field(default_factory=list)
    samples: int = 0
    fed: int = 0
    wrong: list[str] = field(default_factory=list)


def judge_losses(
    lives: Iterable[ProcessLife],
    sessions: Iterable[SessionUnits],
    bounds: Bounds,
    stalls: Sequence[tuple[int, int]],
) -> LossFindings:
    """Judges each process by its sessions, which bear its number; in `stalls` the whole machine stood still."""
    found, every = LossFindings(), list(sessions)
    for life in lives:
        own = [one for one in every if _is_of(one, life)]
        standing = [*life.paused, *stalls]
        _judge_end(life, own, bounds, standing, found)
        if life.command == "append":
            _judge_fed(life, own, bounds, standing, found)
    for session in every:
        of_it = [life for life in lives if _is_of(session, life)]
        _judge_gaps(session, bounds, [*stalls, *(pause for life in of_it for pause in life.paused)], found)
    return found


def _is_of(session: SessionUnits, life: ProcessLife) -> bool:
    return life.session == session.name if life.session else session.name.split("-")[1:2] == [str(life.pid)]


def _lines(sessions: Iterable[SessionUnits]) -> Iterable[str]:
    return (line for session in sessions for lines in session.known().values() for line in lines)


def _judge_end(
    life: ProcessLife,
    sessions: Sequence[SessionUnits],
    bounds: Bounds,
    standing: Sequence[tuple[int, int]],
    found: LossFindings,
) -> None:
    """The last record of a process is at most a flush older than its death, and not older than its request to end."""
    last = max((time_of(line) for line in _lines(sessions)), default=life.began)
    lost = outside(last, life.ended, [*standing, *life.in_memory]) / SECOND if life.ended else 0.0
    if life.how == KILLED and life.command == "run":
        found.losses.append(lost)
        if lost > bounds.loss:
            found.wrong.append(f"{life.key}: was killed and lost the last {lost:.1f} s")
    if life.how == ASKED and lost > 0 and sessions and life.command == "run":
        found.wrong.append(f"{life.key}: was asked to end and lost the last {lost:.1f} s")


def _judge_fed(
    life: ProcessLife,
    sessions: Sequence[SessionUnits],
    bounds: Bounds,
    standing: Sequence[tuple[int, int]],
    found: LossFindings,
) -> None:
    """The lines that a process was fed are there once each, but for those of its last seconds before it was killed."""
    kept = Counter(line for line in _lines(sessions) if measurement_of(line) == _FED)
    given = [life.line(number) for number, at in enumerate(life.fed) if not life.ended or at <= life.ended]
    found.fed += len(kept)
    foreign = set(kept) - {life.line(number) for number in range(len(life.fed))}
    doubled = [line for line, times in kept.items() if times > 1]
    missing = [number for number, line in enumerate(given) if line not in kept]
    found.wrong += [f"{life.key}: a line that nobody fed: {line}" for line in sorted(foreign)[:_MAX_LISTED]]
    found.wrong += [f"{life.key}: a line more than once: {line}" for line in doubled[:_MAX_LISTED]]
    if missing and missing != list(range(missing[0], len(given))):
        found.wrong.append(f"{life.key}: lines are missing amid others, from number {missing[0]}")
    if life.how == KILLED:
        lost = outside(life.fed[missing[0]], life.ended, standing) / SECOND if missing else 0.0
        found.losses.append(lost)
        if lost > bounds.loss:
            found.wrong.append(f"{life.key}: was killed and lost lines of {lost:.1f} s")
    elif missing:
        found.wrong.append(f"{life.key}: ended in peace and lost {len(missing)} lines")


def _judge_gaps(
    session: SessionUnits, bounds: Bounds, standing: Sequence[tuple[int, int]], found: LossFindings
) -> None:
    """Samples follow each other without a gap, but where a unit is missing whose lines nobody saw."""
    before: tuple[int, int] | None = None
    listed = 0
    for number, lines in session.known().items():
        for line in lines:
            if measurement_of(line) != _SAMPLED:
                continue
            at = time_of(line)
            found.samples += 1
            if before and number - before[0] <= 1:
                gap = outside(before[1], at, standing) / SECOND
                if (at <= before[1] or gap > bounds.interval + bounds.slack) and listed < _MAX_LISTED:
                    listed += 1
                    found.wrong.append(f"{session.name}: {gap:.1f} s between two samples in unit {number}")
            before = (number, at)
