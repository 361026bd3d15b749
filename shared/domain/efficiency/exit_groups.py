"""Groups of a job's measured runs by result, exit code and VM size.

The agent's record has no exit. It comes from the cached task, which has that of its latest run: earlier runs of a task
were followed by a retry or requeue. As this takes all runs and tasks, only small jobs are grouped so.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from shared.domain.core.keys import key_of
from shared.domain.efficiency.task_groups import TaskGroup
from shared.domain.tasks.tasks import COMPLETED, SUCCESS, Task
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt

MAX_RUNS = 20_000
"""The most measured runs, and the most tasks, of a job whose runs are grouped by exit."""
MAX_EXIT_CODES = 12
"""The most exit codes that make groups, the most frequent ones."""
_CLOCKS_DIFFER = 60_000  # milliseconds
type RunResult = Literal["success", "failure", "followed", "unknown"]


class ExitKey(NamedTuple):
    """How runs ended, and their VM size; the code is None where there is none, or none of the most frequent ones.

    A `followed` run had another one of the same task after it. `unknown` are those of tasks that were deleted.
    """

    result: RunResult
    exit_code: int | None
    vm_size: str


type ExitGroups = Mapping[ExitKey, TaskGroup]


def exit_groups(attempts: Iterable[MeasuredAttempt], tasks: Mapping[str, Task]) -> ExitGroups:
    """Returns the groups of some runs of a job, whose cached tasks are given by key."""
    found = [*attempts]
    latest = dict[str, int]()
    for one in found:
        key = key_of(one.task)
        latest[key] = max(one.start, latest.get(key, 0))
    by_key = defaultdict[ExitKey, list[MeasuredAttempt]](list)
    for one in found:
        key = key_of(one.task)
        result, code = _end(tasks.get(key), one, is_latest=one.start == latest[key])
        by_key[ExitKey(result, code, one.vm_size)].append(one)
    codes = Counter[int]()
    for group, some in by_key.items():
        if group.exit_code is not None:
            codes[group.exit_code] += len(some)
    if len(codes) > MAX_EXIT_CODES:
        by_key = _with_codes(by_key, frozenset(code for code, _ in codes.most_common(MAX_EXIT_CODES)))
    return {key: TaskGroup.of(some) for key, some in by_key.items()}


def _end(task: Task | None, run: MeasuredAttempt, *, is_latest: bool) -> tuple[RunResult, int | None]:
    if task is None:
        return "unknown", None
    if not is_latest or task.state != COMPLETED or run.start * 1000 < task.start - _CLOCKS_DIFFER:
        return "followed", None
    return ("success" if task.result == SUCCESS else "failure"), task.exit_code


def _with_codes(
    by_key: Mapping[ExitKey, list[MeasuredAttempt]], codes: frozenset[int]
) -> defaultdict[ExitKey, list[MeasuredAttempt]]:
    found = defaultdict[ExitKey, list[MeasuredAttempt]](list)
    for key, some in by_key.items():
        found[key if key.exit_code in codes else key._replace(exit_code=None)] += some
    return found
