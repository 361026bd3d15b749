"""Failed runs of start tasks, and the choice of those whose outputs are kept: the first of each pool and day."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from shared.domain.core.keys import SEPARATOR, key_of, partition_of
from shared.domain.nodes.nodes import FAILURE, Node
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import STREAMS, JobOutputs

MAX_OF_POOL = 20
"""Start tasks of a pool whose outputs are kept, of those that failed on one day (UTC)."""
_MAX_TRIED = 5 * MAX_OF_POOL  # also of nodes that were gone
FOLDER = "startup"
"""Of a node: where its start task runs."""
FILES = tuple(f"{FOLDER}/{stream}" for stream in STREAMS)
_POOL = f"{SEPARATOR}pool"
_DIGITS = 13  # of milliseconds since 1970
_DAY = 86_400_000


class FailingPool(NamedTuple):
    """A pool by its id, and the failed runs of start tasks on its nodes as a poll saw them."""

    id: str
    runs: tuple[FailedRun, ...]

    @property
    def key(self) -> str:
        """The key of its outputs, which is no job's."""
        return key_of_starts(self.id)

    def joined(self, before: "FailingPool") -> "FailingPool":
        """Returns the pool with the runs of an earlier poll, too, whose nodes may be gone."""
        runs = {run.task: run for run in (*before.runs, *self.runs)}
        return self._replace(runs=tuple(runs.values()))


def key_of_starts(pool_id: str) -> str:
    """Returns the key of a pool's outputs beside those of jobs, which have no separator in theirs."""
    return partition_of(_POOL, key_of(pool_id))


def key_of_start(node_key: str, start: int) -> str:
    """Returns the key of one run of a node's start task; `start` is in milliseconds since 1970. Keys sort by it."""
    return f"{node_key}{SEPARATOR}{start:0{_DIGITS}}"


def start_of(run: FailedRun) -> int:
    """Returns when the run of a start task began, in milliseconds since 1970, 0 where Batch didn't say it."""
    return int(run.task.rpartition(SEPARATOR)[2])


def failed_start(pool_id: str, node: Node) -> FailedRun | None:
    """Returns the latest run of a node's start task if it ended and failed; one that runs again has no end."""
    run = node.start
    if run is None or run.result != FAILURE or not run.end:
        return None
    key, place = key_of_start(node.key, run.start), (pool_id, node.id)
    return FailedRun(run.end, key, run.code, place, node.id, 1 + run.retries, run.exit_code)


def failing_pools(pool_id: str, nodes: Iterable[Node]) -> dict[str, FailingPool]:
    """Returns the pool by its key if start tasks failed on its nodes, else nothing."""
    runs = tuple(run for node in nodes if node.start and (run := failed_start(pool_id, node)))
    return {key_of_starts(pool_id): FailingPool(pool_id, runs)} if runs else {}


def chosen_starts(runs: Iterable[FailedRun], stored: JobOutputs, since: int, each: int) -> list[FailedRun]:
    """Returns the runs to keep that ended at `since` or later, the first ones first.

    Of each day MAX_OF_POOL are kept, and `each` of a node that fails again and again.
    """
    known = {run.task for run in stored.runs}
    kept, tried, on_node = _numbers(stored)
    chosen = list[FailedRun]()
    for run in sorted(run for run in runs if run.task not in known and run.ended >= since):
        day, place = _day(run), (_day(run), run.node)
        if kept[day] < MAX_OF_POOL and tried[day] < _MAX_TRIED and on_node[place] < each:
            chosen.append(run)
            kept[day], tried[day], on_node[place] = kept[day] + 1, tried[day] + 1, on_node[place] + 1
    return chosen


def are_enough_kept(run: FailedRun, stored: JobOutputs, each: int) -> bool:
    """Returns whether a run isn't chosen because of others that failed on that day."""
    return not chosen_starts((run,), stored, run.ended, each)


def _numbers(stored: JobOutputs) -> tuple[Counter[int], Counter[int], Counter[tuple[int, tuple[str, str]]]]:
    """Returns how many runs of each day were kept, and tried, and how many of each day and node were tried."""
    kept, tried = Counter(map(_day, stored.kept)), Counter(map(_day, stored.runs))
    return kept, tried, Counter((_day(run), run.node) for run in stored.runs)


def _day(run: FailedRun) -> int:
    return run.ended // _DAY
