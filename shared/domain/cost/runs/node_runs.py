"""Runs by pool and node: which of those without a known end were over, as their nodes did something else.

The end of a run whose job was deleted, or of a retried one that no poll saw end, is only a bound. Such a run was over
where its node was idle, and where a run starts that would exceed the slots of the node. Of several runs it is the one
whose task ran again first.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from shared.domain.cost.busy_nodes import Outcome
from shared.domain.cost.runs.known_nodes import KnownNodes
from shared.domain.timeline.timeline import Run

_CLOCKS = 2_000  # milliseconds by which a run may seem to end later than the next one starts
_NEVER = 1 << 62
_END, _IDLE, _START = range(3)  # in the order of what happens at the same time


class _NodeRun(NamedTuple):
    """A run of a job; a bounded one ended at `end` at the latest."""

    job: str
    run: Run
    end: int
    outcome: Outcome
    is_bounded: bool
    instances: int


class NodeRuns:
    """The runs of a time span by node. `pools` are by id; where one is unknown, its runs last until their bounds."""

    def __init__(self, pools: Callable[[str], KnownNodes | None]) -> None:
        self._pools = pools
        self._runs: defaultdict[str, list[_NodeRun]] = defaultdict(list)

    def add(self, job: str, run: Run, outcome: Outcome, instances: int = 1, *, is_bounded: bool = False) -> None:
        """Adds a run of a job, given by its key; of a multi-instance task, the run of its primary."""
        end = _NEVER if run.end is None else run.end if is_bounded else run.end - _CLOCKS
        one = _NodeRun(job, run, max(end, run.start + 1), outcome, is_bounded, instances)
        self._runs[run.node[0]].append(one)

    def bounded(self) -> Iterator[list[tuple[str, Run, Outcome, int]]]:
        """Yields jobs, bounded runs, outcomes and instances; runs end early where their node shows it.

        Each list has those of a node, or of a pool that isn't known, and takes a moment to make.
        """
        for pool_id, runs in self._runs.items():
            if not any(one.is_bounded for one in runs):
                continue
            pool = self._pools(pool_id)
            for some in _ended(runs, pool) if pool else (runs,):
                yield [_bounded(one) for one in some if one.is_bounded]


def _bounded(one: _NodeRun) -> tuple[str, Run, Outcome, int]:
    end = one.end if one.run.end is None else min(one.end, one.run.end)
    return one.job, one.run._replace(end=end), one.outcome, one.instances


def _ended(runs: Sequence[_NodeRun], pool: KnownNodes) -> Iterator[Iterable[_NodeRun]]:
    """Yields the runs of a pool by node; bounded ones end when others took their slots, or when their node was idle."""
    nodes = defaultdict[str, list[_NodeRun]](list)
    for one in runs:
        nodes[one.run.node[1]].append(one)
    return (_closed(some, pool.slots_per_node or _NEVER, pool.idle_since(node)) for node, some in nodes.items())


def _closed(runs: Sequence[_NodeRun], slots: int, idle_since: Iterable[int]) -> Iterator[_NodeRun]:
    """Yields the runs of a node; bounded ones end when it lacked slots for another, or was idle."""
    if not any(one.is_bounded for one in runs):
        return iter(runs)
    ends, used, open_runs = [one.end for one in runs], 0, set[int]()

    def close(number: int, at: int) -> int:
        open_runs.remove(number)
        ends[number] = at
        return runs[number].run.slots

    starts = [(one.run.start, _START, number) for number, one in enumerate(runs)]
    bounds = [(one.end, _END, number) for number, one in enumerate(runs)]
    for at, step, number in sorted((*starts, *bounds, *((moment, _IDLE, 0) for moment in idle_since))):
        one = runs[number]
        if step == _IDLE:
            used -= sum(close(over, at) for over in [*open_runs] if runs[over].run.start < at - _CLOCKS)
        elif step == _END:
            if not one.is_bounded or number in open_runs:
                used -= one.run.slots
            open_runs.discard(number)
        else:
            used += one.run.slots
            while used > slots and open_runs:
                used -= close(min(open_runs, key=lambda each: runs[each].end), at)
            if one.is_bounded:
                open_runs.add(number)
    return (one._replace(end=end) for one, end in zip(runs, ends, strict=True))
