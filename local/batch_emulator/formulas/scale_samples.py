"""Samples of a pool's counts, one every 30 seconds, for the variables of autoscale formulas.

A sample's age counts like durations: a speed of 20 makes 30 seconds of samples in 1.5 real ones, and a formula
for five minutes still finds ten. Samples are available immediately; the service needs up to a minute.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.entities import SAMPLE_PERIOD_SECONDS, Pool, SampleHistory
from local.batch_emulator.formulas.values import (
    EvaluationError,
    Interval,
    Timestamp,
    Value,
    Vector,
    format_value,
    type_name,
)
from local.batch_emulator.state.context import SimulationContext

_PERIOD = SAMPLE_PERIOD_SECONDS * SECOND
_UNUSABLE = ("unusable", "starttaskfailed", "unknown", "offline", "preempted", "leavingpool", "deallocated")


class InsufficientSamplesError(EvaluationError):
    """There are fewer samples than a formula needs."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One variable's samples; as a number it is its present value."""

    name: str
    current: float
    history: SampleHistory
    context: SimulationContext

    def call(self, method: str, arguments: tuple[Value, ...]) -> Value:
        """Returns the result of a method. Raises EvaluationError."""
        match method, *arguments:
            case "GetSample", float() as count:
                return tuple(value for _, value in self._values_by_age()[-max(0, int(count)) :]) if count >= 1 else ()
            case "GetSample", *_ if arguments:
                return self._get_sample(arguments)
            case "GetSamplePercent", (Timestamp() | Interval()), *_:
                return self._window(arguments)[1]
            case ["Count"]:
                return float(len(self.history.samples))
            case ["GetSamplePeriod"]:
                return Interval(_PERIOD)
            case ["HistoryBeginTime"]:
                return self._begin_time()
        types = ", ".join(map(type_name, arguments))
        raise EvaluationError(f"{self.name} has no method {method}({types})")

    def _get_sample(self, arguments: tuple[Value, ...]) -> Vector:
        *frame, last = arguments
        wanted = last if frame and isinstance(last, float) else None
        values, percent = self._window(tuple(frame) if wanted is not None else arguments)
        if wanted is not None and percent < wanted:
            raise InsufficientSamplesError(
                f"Insufficient data from data set: {self.name} wanted {format_value(wanted)}%, received {percent:.0f}%"
            )
        return values

    def _window(self, frame: tuple[Value, ...]) -> tuple[Vector, float]:
        """Returns the values between two moments (the second defaults to now), and their percentage of a full set."""
        bounds = sorted(self._age(each) for each in (frame if len(frame) > 1 else (*frame, Interval(0))))
        if len(frame) not in (1, 2) or bounds[1] <= bounds[0]:
            raise EvaluationError(f"{self.name}: a time frame has a start and perhaps an end, which differ")
        values = tuple(value for age, value in self._values_by_age() if bounds[0] <= age < bounds[1])
        return values, min(100.0, 100 * len(values) * _PERIOD / (bounds[1] - bounds[0]))

    def _age(self, moment: Value) -> int:
        """Returns the age of a moment, in ticks as durations are counted."""
        if isinstance(moment, Interval):
            return moment.ticks
        if isinstance(moment, Timestamp):
            return round((self.context.now - moment.ticks) * self.context.event_queue.speed)
        raise EvaluationError(f"{self.name}: a {type_name(moment)} is no time")

    def _values_by_age(self) -> list[tuple[int, float]]:
        now, speed = self.context.clock.simulated, self.context.event_queue.speed
        return [(round((now - time) * speed), counts[self.name]) for time, counts in self.history.samples]

    def _begin_time(self) -> Timestamp:
        if not self.history.samples:
            raise InsufficientSamplesError(f"Insufficient data from data set: {self.name} has no samples")
        return Timestamp(self.context.now - (self.context.clock.simulated - self.history.samples[0][0]))


def sample_counts(pool: Pool) -> Mapping[str, float]:
    """Returns a pool's present values by variable. Tasks that wait for others aren't active (documented)."""
    tasks: Counter[str] = Counter()
    for job in pool.account.jobs.values():
        if job.pool is pool:
            tasks.update(job.task_counts.counts.tasks)
            if job.spec.get("usesTaskDependencies"):
                tasks["active"] -= sum(task.state == "active" and task.open_dependencies > 0 for task in job.tasks)
    nodes = Counter(node.state for node in pool.nodes.values())
    running = tasks["running"] + tasks["preparing"]
    return {
        "$ActiveTasks": float(tasks["active"]),
        "$RunningTasks": float(running),
        "$PendingTasks": float(tasks["active"] + running),
        "$SucceededTasks": float(tasks["succeeded"]),
        "$FailedTasks": float(tasks["failed"]),
        "$CurrentDedicatedNodes": float(pool.node_count(dedicated=True)),
        "$CurrentLowPriorityNodes": float(pool.node_count(dedicated=False)),
        "$PreemptedNodeCount": float(nodes["preempted"]),
        "$UsableNodeCount": float(len(pool.nodes) - sum(nodes[state] for state in _UNUSABLE)),
        "$SampleNodeCount": float(len(pool.nodes)),
    }
