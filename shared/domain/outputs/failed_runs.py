"""Failed runs of tasks, and the choice of those whose outputs are kept: the first of each failure group and node."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.leaves.leaf_summaries import remembered
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.failures import Cause, failure_group_id
from shared.domain.tasks.tasks import FAILURE, Task, TaskCounts

MAX_OF_JOB = 200
MAX_TRIED = 5 * MAX_OF_JOB
"""Of a job, also on nodes that were gone."""
type Node = tuple[str, str]
type Each = Callable[[str], int]
"""How many runs are kept of each failure group and of each node of a pool, by its id."""


class FailedRun(NamedTuple):
    """A run that failed: its end in milliseconds since 1970, task key, failure group and node (pool id, node id).

    `task_id`, `attempt` (from 1) and `exit_code` are those of the task, empty for a run that was kept before.
    """

    ended: int
    task: str
    group: str
    node: Node
    task_id: str = ""
    attempt: int = 1
    exit_code: int | None = None

    @classmethod
    def of(cls, task: Task) -> "FailedRun":
        group = failure_group_id(task.failure, task.exit_code)
        attempt = 1 + task.retries + task.requeues
        return cls(task.end or task.transition, key_of(task.id), group, task.node, task.id, attempt, task.exit_code)


def may_have_failed_since(since: int) -> Callable[[TaskCounts, bytes | None], bool]:
    """Returns a test of a leaf's counts and summary: False where no task failed at `since` or later."""

    def may_match(counts: TaskCounts, summary: bytes | None) -> bool:
        known = remembered(summary) if summary and counts.failed else None
        if known is None or known.failures.ungrouped:
            return counts.failed > 0
        return any(not group.last or group.last >= since for group in known.failures.groups)

    return may_match


class StoredRuns(NamedTuple):
    """Runs that are stored: their tasks by key and their ends, and the tasks that have something kept."""

    known: Container[tuple[str, int]] = ()
    kept: Container[str] = ()


def failed_since(
    leaf: Leaf, places: Iterable[int], since: int, stored: StoredRuns, each: Each
) -> tuple[list[FailedRun], int]:
    """Returns the failed runs of a leaf that ended at `since` or later, and the newest end of such a run, else `since`.

    Of each cause and node only the first ones that aren't known and ran on a node are returned, as no more are kept,
    beside those of tasks that have something kept.
    """
    results, nodes, failures, codes = (leaf.column(name) for name in ("result", "node", "failure", "exit_code"))
    moments = zip(leaf.column("end"), leaf.column("transition"), strict=True)
    ends = [end or moved for end, moved in moments]
    failed = sorted((ends[at], at) for at in places if results[at] == FAILURE and ends[at] >= since)
    causes, on_nodes, chosen = Counter[Cause](), Counter[Node](), list[int]()
    for ended, at in failed:
        node, cause, is_again = nodes[at], (failures[at], codes[at]), leaf.keys[at] in stored.kept
        most = each(node[0]) if node[1] else 0
        is_among = most and (is_again or min(causes[cause], on_nodes[node]) < most)
        if is_among and (leaf.keys[at], ended) not in stored.known:
            chosen.append(at)
            causes[cause] += not is_again
            on_nodes[node] += not is_again
    return list(map(FailedRun.of, leaf.rows(sorted(chosen)))), failed[-1][0] if failed else since


def first_of_each(
    runs: Iterable[FailedRun], groups: Mapping[str, int], nodes: Mapping[Node, int], each: Each
) -> Iterator[FailedRun]:
    """Yields the runs that are among the first ones of their failure group or node, the most telling first.

    `groups` and `nodes` are the numbers that were kept before. The first of each group comes before the first of each
    node, these before the second ones. Choosing from choices of parts gives the choice from all.
    """
    of_group, of_node = Counter(groups), Counter(nodes)
    found = list[tuple[int, bool, FailedRun]]()
    for run in sorted(runs):
        in_group, on_node = of_group[run.group], of_node[run.node]
        of_group[run.group] += 1
        of_node[run.node] += 1
        if min(in_group, on_node) < each(run.node[0]):
            found.append((min(in_group, on_node), in_group > on_node, run))
    return (run for *_, run in sorted(found))
