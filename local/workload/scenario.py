"""The parts of a scenario: pools, jobs, their tasks, and how jobs end. Values only; nothing runs.

Durations are in seconds before `--speed` divides them; the emulator divides those in command lines itself.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MIX = "Mix"


class EndingKind(Enum):
    """The end of a job: it completes with its last task, is stopped by a user, or stays."""

    COMPLETES = "completes"
    STOPPED = "stopped"
    STAYS = "stays"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """A pool of `dedicated` and `spot` nodes; a start task with an exit code other than 0 makes its nodes unusable.

    With `has_agent` the emulator writes no telemetry of its nodes, as an agent does. Where `vm_size` is MIX, each node
    has one of `mixed_sizes`; the service prefers those with the most capacity.
    """

    id: str
    vm_size: str
    mixed_sizes: tuple[str, ...] = ()
    dedicated: int = 0
    spot: int = 0
    slots: int = 1
    start_task: str = ""
    has_agent: bool = False

    @property
    def total_slots(self) -> int:
        return (self.dedicated + self.spot) * self.slots


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePlan:
    """The failure of a `share` of a job's tasks: an exit code, or a missing resource file.

    `last_words` is a kind of failure of the emulator with that exit code, whose text the tasks write at their end.
    """

    share: float
    exit_code: int = 0
    last_words: str = ""
    missing_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A job: `tasks` runs of `program` ({n} is the number), each with a duration within `seconds`.

    `output` is what the tasks write beside it, by the emulator's program `emulate`.
    `rest` seconds after its end it is deleted, and after a quarter of that time it is created again under its id. The
    workload adds `adds_per_second` tasks a second at any speed, like a client that waits for each response. A job with
    the ending STOPPED is stopped `stop_after` seconds after its last task was added, with `stop_reason`.
    """

    id: str
    pool: str
    name: str
    tasks: int
    task_prefix: str
    program: str
    seconds: tuple[float, float]
    output: str = ""
    failures: tuple[FailurePlan, ...] = ()
    adds_per_second: float = 300
    retries: int = 0
    priority: int = 0
    ending: EndingKind = EndingKind.COMPLETES
    rest: float = 60
    stop_after: float = 0
    stop_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePlan:
    """A job schedule: every `interval` seconds a job like `job`, which starts within `window` seconds (0: no limit).

    The service chooses the job ids. The workload adds the tasks, and deletes all but the latest few jobs.
    """

    job: JobPlan
    interval: float
    window: float = 0

    @property
    def id(self) -> str:
        return self.job.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioPlan:
    """Pools, jobs and job schedules; every job's `pool` is one of the pools."""

    name: str
    pools: tuple[PoolPlan, ...]
    jobs: tuple[JobPlan, ...]
    schedules: tuple[SchedulePlan, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task to add."""

    id: str
    command_line: str
    missing_file: str
    retries: int


def plan_tasks(job: JobPlan, *, seed: int, run: int) -> Iterator[TaskPlan]:
    """Yields the tasks of a job's `run`-th run, equal for equal seeds; each failure affects at least one task."""
    rng = random.Random(f"{seed}/{job.id}/{run}")
    failing = _choose_failing_tasks(job, rng)
    digits = len(str(job.tasks))
    for number in range(1, job.tasks + 1):
        failure = failing.get(number)
        seconds = rng.uniform(*job.seconds)
        yield TaskPlan(
            id=f"{job.task_prefix}-{number:0{digits}}",
            command_line=_command_line(job, number, seconds, failure),
            missing_file=failure.missing_file if failure else "",
            retries=job.retries,
        )


def _command_line(job: JobPlan, number: int, seconds: float, failure: FailurePlan | None) -> str:
    steps = [job.program.format(n=number), job.output.format(n=number), f"sleep {seconds:.1f}"]
    if failure and failure.last_words:
        steps.append(f"emulate failure {failure.last_words}")
    steps.append(f"exit {failure.exit_code if failure else 0}")
    return f"/bin/sh -c '{'; '.join(filter(None, steps))}'"


def _choose_failing_tasks(job: JobPlan, rng: random.Random) -> dict[int, FailurePlan]:
    plans = [failure for failure in job.failures for _ in range(max(1, round(failure.share * job.tasks)))]
    return dict(zip(rng.sample(range(1, job.tasks + 1), len(plans)), plans, strict=True))
