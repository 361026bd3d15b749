"""Summaries of leaves: statistics and failures of a leaf's tasks, computed from its columns at every write.

A summary is stored beside the leaf's counts and read with them, so summaries of a job add up without reading a task. It
is a function of the leaf's tasks alone. Where few tasks changed, their old contributions are subtracted from the stored
summary and their new ones added, which gives the same result. Otherwise it is computed from all tasks.
"""

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, compress
from typing import Any

from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.vector_counts import histogram_of, minutes_of
from shared.domain.packing.bigint_simd import BigIntVector, flags_of
from shared.domain.packing.columns import DAMAGE, DictionaryColumn, IntegerColumn
from shared.domain.packing.compression import deflated, inflated
from shared.domain.tasks.failures import EXAMPLES, FailureGroup, Failures
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import MINUTE, JobStatistics, newest
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, PREPARING, RESULTS, RUNNING, STATES, Task, TaskCounts

FORM = 2  # format 1 had waits of retried tasks and no slots of preparing ones
MAX_BYTES = 48 * 1024  # of the 64 KiB of a binary property
_LEAF_GROUPS, _LEAF_NODES = 100, 16
_IS = [bytes(place == number for place in range(256)) for number in range(max(len(STATES), len(RESULTS)))]
type _Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """The statistics and failures of one leaf, or of many."""

    statistics: JobStatistics = field(default_factory=JobStatistics)
    failures: Failures = field(default_factory=Failures)

    @classmethod
    def summed(cls, many: "Sequence[Summary]") -> "Summary":
        return cls(
            JobStatistics.summed([one.statistics for one in many]), Failures.summed([one.failures for one in many])
        )

    def pack(self, most: int = MAX_BYTES) -> bytes:
        """Returns the stored form, with fewer failure groups where it would exceed `most` bytes."""
        packed = self._packed(self.failures)
        if len(packed) <= most:
            return packed
        return self._packed(self.failures.fitting(lambda failures: len(self._packed(failures)) <= most))

    def _packed(self, failures: Failures) -> bytes:
        form = [FORM, self.statistics.plain(), failures.plain()]
        return deflated(json.dumps(form, separators=(",", ":")).encode())

    @classmethod
    def unpack(cls, stored: bytes) -> "Summary | None":
        """Returns the summary, None where its format is unknown to this version or it is damaged."""
        with suppress(*DAMAGE):
            form, *parts = json.loads(inflated(stored))
            return cls(JobStatistics.of_plain(parts[0]), Failures.of_plain(parts[1])) if form == FORM else None
        return None


remembered = lru_cache(maxsize=320)(Summary.unpack)
"""Unpacks a summary, or takes it from a cache: from poll to poll few of the 245 leaves of a million tasks change.

An unpacked summary takes some 20 KB, and up to ten times as much with very many failures.
"""


def summary_after(stored: bytes | None, counts: TaskCounts, leaf: Leaf) -> Summary:
    """Returns the summary of a leaf that was unpacked beside this stored summary and counts, and changed since."""
    before = remembered(stored) if stored and len(stored) < MAX_BYTES // 2 else None  # a longer one may have been cut
    if before is None or leaf.moved is None:
        return summary_of(leaf)
    were, became = leaf.moved
    rest = before.statistics.without(_statistics_of(were))
    if rest is None or counts.completed - _completed(were) + _completed(became) != leaf.counts().completed:
        return summary_of(leaf)
    durations = JobStatistics.summed([rest, _statistics_of(became)])
    statistics = JobStatistics(
        durations.waits, durations.runs, durations.completions, *_repeats_and_slots(leaf.columns)
    )
    if any(task.result == FAILURE for task in chain(were, became)):
        return Summary(statistics, _failures(leaf.columns, _ends(leaf.columns)))
    return Summary(statistics, before.failures)


def summary_of(leaf: Leaf) -> Summary:
    """Returns the summary of a leaf's tasks, computed from all of them."""
    if not len(leaf):
        return Summary()
    columns = leaf.columns
    transitions = BigIntVector.of(columns["transitions"].values)
    ends, end_flags = _moments(transitions, columns["ends"])
    statistics = _job_statistics(columns, transitions, ends, end_flags)
    return Summary(statistics, _failures(columns, ends))


def _statistics_of(tasks: Sequence[Task]) -> JobStatistics:
    """Returns the durations and completions of few tasks."""
    completed = [task for task in tasks if task.state == COMPLETED]
    timed = [task for task in completed if task.creation and task.start and task.end]
    moments = Counter((task.end or task.transition) // MINUTE for task in completed if task.end or task.transition)
    return JobStatistics(
        Histogram.of(task.start - task.creation for task in timed if not task.ran_before),
        Histogram.of(task.end - task.start for task in timed),
        newest(moments.items()),
    )


def _completed(tasks: Sequence[Task]) -> int:
    return sum(task.state == COMPLETED for task in tasks)


def _job_statistics(columns: _Columns, transitions: BigIntVector, ends: BigIntVector, end_flags: int) -> JobStatistics:
    starts, start_flags = _moments(transitions, columns["starts"])
    creations = BigIntVector.of(columns["creations"].values)
    completed = flags_of(_chosen(columns["states"], COMPLETED))
    timed = completed & start_flags & end_flags & creations.signs()[1]
    return JobStatistics(
        histogram_of(starts - creations, _of_first_runs(columns, timed)),
        histogram_of(ends - starts, timed),
        minutes_of(ends, completed & ends.signs()[1], about=columns["transitions"][0]),
        *_repeats_and_slots(columns),
    )


def _repeats_and_slots(columns: _Columns) -> tuple[int, ...]:
    """Returns the numbers of job statistics, in their order."""
    repeats = (*_repeats(columns["retries"]), *_repeats(columns["requeues"]))
    return (*repeats, *(_slots(columns, state) for state in (RUNNING, PREPARING, ACTIVE)))


def _of_first_runs(columns: _Columns, flags: int) -> int:
    """Returns the flags of tasks without a retry or requeue: see `Task.ran_before`."""
    for column in (columns["retries"], columns["requeues"]):
        words, of_row = column.words, column.values
        if any(words):
            flags &= flags_of(bytes(map([not word for word in words].__getitem__, of_row)))
    return flags


def _moments(transitions: BigIntVector, column: IntegerColumn) -> tuple[BigIntVector, int]:
    """Returns starts or ends, with the transition in place of unknown ones, and flags of the known ones.

    An offset is the milliseconds before the transition plus one, or negative for a moment after it.
    """
    offsets = BigIntVector.of(column.values)
    before, known = offsets.signs()
    return (transitions - offsets).plus(before), known


def _ends(columns: _Columns) -> BigIntVector:
    return _moments(BigIntVector.of(columns["transitions"].values), columns["ends"])[0]


def _failures(columns: _Columns, ends: BigIntVector) -> Failures:
    failed = _chosen(columns["results"], FAILURE)
    if not any(failed):
        return Failures()
    rows = list(compress(range(len(failed)), failed))
    failures, exits = columns["failures"], columns["exits"]
    by_cause = defaultdict[tuple[int, int], list[int]](list)
    for row in rows:
        by_cause[failures.values[row], exits.values[row]].append(row)
    times = ends.values()
    groups = [
        _group(columns, failures.words[failure], exits.words[code], times, places)
        for (failure, code), places in by_cause.items()
    ]
    ranked = Failures(tuple(sorted(groups, key=lambda group: group.rank)))
    return ranked.capped(groups=_LEAF_GROUPS, nodes=_LEAF_NODES)


def _group(
    columns: _Columns, failure: tuple[str, str], exit_code: int | None, times: "array[int]", rows: list[int]
) -> FailureGroup:
    """Returns the group of failed tasks of one cause at `rows`, which are in the order of keys."""
    known = [time for time in map(times.__getitem__, rows) if time]
    nodes = columns["nodes"]
    numbers = Counter(map(nodes.values.__getitem__, rows))
    placed = {nodes.words[node]: number for node, number in numbers.items() if any(nodes.words[node])}
    return FailureGroup(
        failure,
        exit_code,
        len(rows),
        min(known, default=0),
        max(known, default=0),
        tuple(placed.items()),
        len(rows) - sum(placed.values()),
        tuple(columns["ids"].rows(rows[:EXAMPLES])),
    )


def _repeats(column: DictionaryColumn) -> tuple[int, int]:
    """Returns the number of retries, or requeues, and of tasks with any."""
    words, of_row = column.words, column.values
    if not any(words):
        return 0, 0
    numbers = [(words[word], tasks) for word, tasks in Counter(of_row).items()]
    return sum(times * tasks for times, tasks in numbers), sum(tasks for times, tasks in numbers if times)


def _slots(columns: _Columns, state: int) -> int:
    slots, of_row = columns["slots"].words, columns["slots"].values
    chosen = _chosen(columns["states"], state)
    if len(slots) == 1:
        return int(slots[0]) * chosen.count(1)
    return sum(slots[word] * tasks for word, tasks in Counter(compress(of_row, chosen)).items())


def _chosen(column: IntegerColumn, number: int) -> bytes:
    """Returns a byte for each row, 1 where the column has that number."""
    values: array[int] = column.values
    return values.tobytes().translate(_IS[number])
