"""Compares an agent's figures with the truth. Pure: no clock, no process."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from local.prove.agent_figures.plans import Plan
from local.prove.agent_figures.spooled import INTERVAL, Line
from local.prove.agent_figures.truths import Truth

CPU_SHARE, CPU_SECONDS = 0.02, 0.2
PEAK_SHARE = 0.05
IO_SHARE = 0.02
JITTER = 0.5
"""Seconds that a sample takes at most on a busy machine."""
MAX_INTERVAL = 2 * INTERVAL
"""Seconds: a busy machine may leave a sample out."""
MIB = 1 << 20
_ATTEMPT = "batchscope_task_attempt"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure beside the truth; `is_right` is None where it isn't judged."""

    agent: str
    subject: str
    figure: str
    truth: str
    found: str
    error: str
    bar: str
    is_right: bool | None


def attempts_of(lines: Iterable[Line], job: str) -> dict[str, list[Line]]:
    """Returns the records of attempts that ended, by task, in the order of their starts."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line.measurement == _ATTEMPT and line.tags.get("job_id") == job:
            found.setdefault(line.tags["task_id"], []).append(line)
    return {task: sorted(some, key=lambda line: line.numbers["start_time"]) for task, some in found.items()}


def judge_task(
    agent: str, plan: Plan, truths: Sequence[Truth], found: Sequence[Line], *, is_exact: bool
) -> Iterator[Row]:
    """Yields the rows of a task; `is_exact` says that the agent has exit accounting."""
    if len(found) != len(truths):
        yield Row(agent, plan.name, "attempts", str(len(truths)), str(len(found)), "", "all", is_right=False)
        return
    for number, (truth, line) in enumerate(zip(truths, found, strict=True), 1):
        name = f"{plan.name} {number}" if len(truths) > 1 else plan.name
        yield from _rows(agent, name, plan, truth, line.numbers, is_exact=is_exact)


def _rows(
    agent: str, name: str, plan: Plan, truth: Truth, found: Mapping[str, float], *, is_exact: bool
) -> Iterator[Row]:
    yield cpu_row(agent, name, truth, found, is_exact=is_exact and not plan.has_orphans)
    yield time_row(agent, name, "start", truth.start, found["start_time"], interval=INTERVAL)
    yield time_row(agent, name, "end", truth.end, found["end_time"], interval=found["end_uncertainty"])
    is_missed = plan.is_late and not is_exact
    if plan.has_peak:
        yield size_row(
            agent, name, "peak memory", truth.peak, found["memory_peak"], share=PEAK_SHARE, is_missed=is_missed
        )
    if plan.has_io:
        for which, true, field in (("read", truth.read, "read_bytes"), ("written", truth.written, "write_bytes")):
            yield size_row(agent, name, which, true, found.get(field, 0.0), share=IO_SHARE, is_missed=is_missed)
    if plan.has_threads:
        threads = int(found["max_threads"])
        yield Row(
            agent, name, "threads", str(truth.threads), str(threads), "", "equal", is_right=threads == truth.threads
        )


def time_row(agent: str, name: str, figure: str, truth: float, found: float, *, interval: float) -> Row:
    """Returns the row of a time, which must be right within the interval between two samples."""
    error = f"{found - truth:+.1f} s"
    is_right = abs(found - truth) <= interval + JITTER and interval <= MAX_INTERVAL
    return Row(agent, name, figure, "0 s", error, error, f"{interval:.1f} s", is_right)


def cpu_row(agent: str, name: str, truth: Truth, found: Mapping[str, float], *, is_exact: bool) -> Row:
    """Returns the row of CPU seconds.

    With exit accounting they are right within the bars for tasks of any length. Without it, a difference may instead
    be within the bound that the agent states; too much is never right.
    """
    counted, missed = found["cpu_time_user"] + found["cpu_time_system"], found["cpu_time_missed_max"]
    error, bar = counted - truth.cpu, max(truth.cpu * CPU_SHARE, CPU_SECONDS)
    is_right, words = abs(error) <= bar, f"{CPU_SHARE:.0%} or {CPU_SECONDS:g} s"
    if not is_exact and not is_right:
        is_right, words = -missed <= error <= 0, f"missed at most {missed:.2f} s, as it says"
    return Row(
        agent, name, "CPU", f"{truth.cpu:.2f} s", f"{counted:.2f} s", _error(error, truth.cpu, "s"), words, is_right
    )


def size_row(
    agent: str, name: str, figure: str, truth: float, found: float, *, share: float, is_missed: bool = False
) -> Row:
    """Returns the row of a size in bytes; where `is_missed`, only more than the truth is wrong."""
    error, bar = found - truth, share * truth
    is_right = error <= bar if is_missed else abs(error) <= bar
    words = f"at most {share:.0%} above: no accounting" if is_missed else f"{share:.0%}"
    true, seen = (f"{value / MIB:.1f} MiB" for value in (truth, found))
    return Row(agent, name, figure, true, seen, f"{error / truth:+.2%}" if truth else "", words, is_right)


def interval_row(agent: str, lines: Iterable[Line]) -> Row:
    """Returns the longest time between two samples, which isn't judged: a busy machine delays them."""
    times = sorted({line.time for line in lines if line.measurement == "mem"})
    longest = max((later - one for one, later in pairwise(times)), default=0.0)
    return Row(agent, "samples", "longest interval", f"{INTERVAL:g} s", f"{longest:.1f} s", "", "none", is_right=None)


def seen_row(agent: str, truths: Mapping[str, Sequence[Truth]], found: Mapping[str, Sequence[Line]]) -> Row:
    """Returns how many of these tasks an agent saw at all, which isn't judged."""
    seen = sum(name in found for name in truths)
    return Row(agent, "tasks shorter than an interval", "seen", str(len(truths)), str(seen), "", "none", is_right=None)


def _error(error: float, truth: float, unit: str) -> str:
    share = f" ({error / truth:+.1%})" if truth > 1 else ""
    return f"{error:+.2f} {unit}{share}"
