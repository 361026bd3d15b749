"""The rules on start-ups that take longer than before, or longer than the tasks for which nodes start."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import (
    MIN_RUN_TASKS,
    MIN_START_UP_DAYS,
    MIN_START_UP_GROWTH,
    MIN_START_UPS,
    START_UP_GROWTH,
)
from shared.domain.nodes.start_ups import Phase
from shared.domain.pools.start_up_figures import SizeAndImage, StartUpFigures
from shared.domain.tasks.histograms import Histogram

GROWS, EXCEEDS_TASKS = "startUpGrows", "startUpExceedsTasks"
_MAX_SECONDS = 120  # longer spans are named in minutes
_PARTS: Mapping[Phase, str] = {
    "allocation": "allocation: sizes with more capacity, other regions, or dedicated in place of spot nodes help",
    "boot": "boot: smaller images help",
    "setup": "setup between boot and start task: fewer or smaller application packages and container images help",
    "startTask": "start task: an image that contains what it installs helps",
    "preparation": "job preparation: less to download for each job helps",
}
_TASKS_ADVICE = (
    "Give each node more to do: let the pool shrink later, submit jobs together, or make tasks longer. Or shorten the"
    " start-up: its longest part is "
)


class _Growth(NamedTuple):
    """Medians of the overhead of some nodes on the latest day, in days since 1970, and before; what grew most."""

    day: int
    nodes: int
    before: timedelta
    now: timedelta
    phase: Phase


def start_up_grows(pool_id: str, groups: Mapping[SizeAndImage, Mapping[int, StartUpFigures]]) -> Finding | None:
    """Returns the finding on the VM size and image whose overhead on its latest day is over 1.5 times that before.

    Of several it is the one that grew by the most time. Sizes and images aren't compared with each other: a pool whose
    nodes are of another size, as Azure has no capacity of its first one, starts none more slowly. Days are since 1970.
    Its evidence are the medians of that day and of the earlier ones (the median of theirs), and the number of nodes.
    """
    found = ((group, grown) for group, days in groups.items() if (grown := _growth(days)))
    (vm_size, image), grown = max(found, key=lambda one: one[1].now - one[1].before, default=(("", ""), None))
    if grown is None:
        return None
    before, now = grown.before, grown.now
    since = datetime.fromtimestamp(0, UTC) + timedelta(days=grown.day)
    kind = " with ".join(filter(None, (vm_size, image and f"the image {image}")))
    return Finding(
        rule=GROWS,
        scope=Scope("pool", pool_id),
        severity="info",
        title=f"Nodes start {now / before:.1f} times as slowly as before" if before else "Nodes start more slowly",
        sentence=f"Half of {amount(grown.nodes, 'node')} of {since:%Y-%m-%d}{kind and f' ({kind})'} took over"
        f" {_text(now)} until their first task, without waiting for it; on the days before it was {_text(before)}.",
        advice=f"What grew most is the {_PARTS[grown.phase]}.",
        evidence={
            "startUp": now, "startUpBefore": before, "phase": grown.phase, "nodes": grown.nodes,
            "vmSize": vm_size or None, "image": image or None,
        },
        since=since,
    )  # fmt: skip


def _growth(days: Mapping[int, StartUpFigures]) -> _Growth | None:
    """Returns the growth on the latest day with enough nodes; None where it is small, or earlier days are too few."""
    usable = [(day, one) for day, one in sorted(days.items()) if one.of("overhead").nodes >= MIN_START_UPS]
    if len(usable) <= MIN_START_UP_DAYS:
        return None
    *earlier, (day, latest) = usable
    before = _milliseconds(median(_p50(one, "overhead") for _, one in earlier))
    now = _milliseconds(_p50(latest, "overhead"))
    if now < before * START_UP_GROWTH or now - before < MIN_START_UP_GROWTH:
        return None
    phase = _longer({name: _p50(latest, name) - median(_p50(one, name) for _, one in earlier) for name in _PARTS})
    return _Growth(day, latest.nodes, before, now, phase)


def start_up_exceeds_tasks(pool_id: str, figures: StartUpFigures, runs: Histogram) -> Finding | None:
    """Returns the finding on nodes that take longer to start than the pool's tasks run, by the medians of both."""
    overhead = figures.of("overhead")
    if overhead.nodes < MIN_START_UPS or overhead.p50 is None or runs.count < MIN_RUN_TASKS:
        return None
    start_up, run = _milliseconds(overhead.p50), _milliseconds(runs.quantile(50))
    if start_up <= run:
        return None
    phase = _longer({name: _p50(figures, name) for name in _PARTS})
    return Finding(
        rule=EXCEEDS_TASKS,
        scope=Scope("pool", pool_id),
        severity="info",
        title="Nodes take longer to start than tasks run",
        sentence=f"Half of {amount(overhead.nodes, 'node')} took over {_text(start_up)} until their first task, without"
        f" waiting for it; half of {amount(runs.count, 'task')} ran no longer than {_text(run)}.",
        advice=f"{_TASKS_ADVICE}{_PARTS[phase]}.",
        evidence={
            "startUp": start_up, "medianRun": run, "phase": phase, "nodes": overhead.nodes, "tasks": runs.count,
        },
    )  # fmt: skip


def _p50(figures: StartUpFigures, phase: Phase) -> int:
    """Returns the median in milliseconds; a phase that no node has takes no part."""
    return figures.of(phase).p50 or 0


def _longer(phases: Mapping[Phase, float]) -> Phase:
    return max(phases, key=lambda name: phases[name])


def _milliseconds(value: float) -> timedelta:
    return timedelta(milliseconds=value)


def _text(span: timedelta) -> str:
    seconds = round(span.total_seconds())
    return amount(seconds, "second") if seconds < _MAX_SECONDS else f"{seconds / 60:.1f} minutes"
