"""Statistics and failures of tasks by plain counting, task by task: the oracle of all summaries."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from shared.domain.tasks.failures import FailureGroup, Failures
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import JobStatistics
from shared.domain.tasks.tasks import Task

MINUTES, EXAMPLES = 75, 5


def bucket_of(milliseconds: int) -> int:
    """Returns the bucket: eight buckets an octave, from 16 ms up."""
    octave = max(0, len(f"{milliseconds:b}") - 4)
    return 8 * octave + (milliseconds >> octave)


def insight_of_rows(rows: Sequence[Task]) -> JobStatistics:
    """Returns the statistics of tasks, task by task."""
    timed = [task for task in rows if task.state == 3 and task.creation and task.start and task.end]
    waits = [max(0, task.start - task.creation) for task in timed if task.retries == task.requeues == 0]
    runs = [max(0, task.end - task.start) for task in timed]
    moments = [task.end or task.transition for task in rows if task.state == 3]
    minutes = Counter(moment // 60_000 for moment in moments if moment)
    return JobStatistics(
        Histogram(sum(waits), tuple(sorted(Counter(map(bucket_of, waits)).items()))),
        Histogram(sum(runs), tuple(sorted(Counter(map(bucket_of, runs)).items()))),
        tuple(sorted(minutes.items())[-MINUTES:]),
        sum(task.retries for task in rows),
        sum(task.retries > 0 for task in rows),
        sum(task.requeues for task in rows),
        sum(task.requeues > 0 for task in rows),
        *(sum(task.slots for task in rows if task.state == state) for state in (2, 1, 0)),
    )


def blamed(rows: Sequence[Task]) -> Failures:
    """Returns the groups of failed tasks, task by task."""
    causes = defaultdict[tuple[tuple[str, str], int | None], list[Task]](list)
    for task in rows:
        if task.result == 2:
            causes[task.failure, task.exit_code].append(task)
    groups = [group_of(*cause, failed) for cause, failed in causes.items()]
    return Failures(tuple(sorted(groups, key=lambda group: group.rank)))


def group_of(failure: tuple[str, str], exit_code: int | None, failed: list[Task]) -> FailureGroup:
    times = [task.end or task.transition for task in failed if task.end or task.transition]
    nodes = Counter(task.node for task in failed if task.node != ("", ""))
    return FailureGroup(
        failure,
        exit_code,
        len(failed),
        min(times, default=0),
        max(times, default=0),
        tuple(sorted(nodes.items(), key=lambda node: (-node[1], node[0]))),
        len(failed) - nodes.total(),
        tuple(sorted((task.id for task in failed), key=str.lower)[:EXAMPLES]),
    )
