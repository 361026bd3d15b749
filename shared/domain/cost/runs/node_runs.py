"""Runs by node: which of those without a known end were over, as others took their slots.

The end of a retried run, or of one whose job was deleted, is only a bound. A node never has more than its slots: where
a run starts that would exceed them, such a run was over, of several the one whose bound comes first.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from shared.domain.cost.busy_nodes import Outcome
from shared.domain.timeline.timeline import Node, Run

_CLOCKS = 2_000  # milliseconds by which a run may seem to end later than the next one starts
_NEVER = 1 << 62


class _NodeRun(NamedTuple):
    """A run of a job; a bounded one ended at `end` at the latest. Its task has so many instances."""

    job: str
    run: Run
    end: int
    outcome: Outcome
    is_bounded: bool
    instances: int


class NodeRuns:
    """The runs of a time span by node; `slots_of` says how many slots each node of a pool has, 0 where unknown."""

    def __init__(self, slots_of: Callable[[str], int]) -> None:
        self._slots_of = slots_of
        self._nodes: defaultdict[Node, list[_NodeRun]] = defaultdict(list)

    def add(self, job: str, run: Run, outcome: Outcome, instances: int = 1, *, is_bounded: bool = False) -> None:
        """Adds a run of a job, given by its key; of a multi-instance task, the run of its primary."""
        end = _NEVER if run.end is None else run.end if is_bounded else run.end - _CLOCKS
        self._nodes[run.node].append(_NodeRun(job, run, max(end, run.start + 1), outcome, is_bounded, instances))

    def bounded(self) -> Iterator[tuple[str, Run, Outcome, int]]:
        """Yields jobs, bounded runs, outcomes and instances; runs end early where others took their slots."""
        for node, runs in self._nodes.items():
            if any(one.is_bounded for one in runs):
                slots = self._slots_of(node[0])
                ends = _ends(runs, slots) if slots else {}
                for number, one in enumerate(runs):
                    if one.is_bounded:
                        end = min(ends.get(number, one.end), one.run.end or one.end)
                        yield one.job, one.run._replace(end=end), one.outcome, one.instances


def _ends(runs: list[_NodeRun], slots: int) -> dict[int, int]:
    """Returns when bounded runs were over by the slots of their node, by their place in the list."""
    found, free, open_runs = dict[int, int](), slots, set[int]()
    starts = [(one.run.start, True, number) for number, one in enumerate(runs)]
    ends = [(one.end, False, number) for number, one in enumerate(runs)]
    for at, begins, number in sorted((*starts, *ends)):
        one = runs[number]
        if not begins:
            if not one.is_bounded or number in open_runs:
                free += one.run.slots
            open_runs.discard(number)
            continue
        free -= one.run.slots
        while free < 0 and open_runs:
            over = min(open_runs, key=lambda each: runs[each].end)
            open_runs.remove(over)
            free += runs[over].run.slots
            found[over] = at
        if one.is_bounded:
            open_runs.add(number)
    return found
