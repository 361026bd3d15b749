"""Findings on what a job's runs don't show: kills, time limits, start-ups, kinds of nodes, stolen time, the network."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.job_context import (
    BatchRuns,
    JobContext,
    Kills,
    NodeFigures,
    NodeKindUse,
    StartUpTime,
    TaskLimit,
    TimeLimit,
)
from shared.domain.findings.finding import Finding
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import HOUR, evidence, run

SOUND = [run(at, cores=3.8, memory=12.0) for at in range(40)]
MINUTE = timedelta(minutes=1)
OVER = BatchRuns(are_over=True)
MEBI = 1 << 20


def found(context: JobContext, runs: Sequence[MeasuredAttempt] = SOUND) -> Sequence[Finding]:
    return efficiency_findings(evidence(runs, tasks=len(runs), context=context))


def only(context: JobContext, runs: Sequence[MeasuredAttempt] = SOUND) -> Finding:
    (one,) = found(context, runs)
    return one


def codes(context: JobContext, runs: Sequence[MeasuredAttempt] = SOUND) -> list[str]:
    return [one.rule for one in found(context, runs)]


def test_killed_tasks_are_named_and_never_advised_more_slots() -> None:
    little = [run(at, cores=0.9, memory=2.0) for at in range(40)]
    assert codes(JobContext(), little) == ["oneBusyCore"]
    one = only(JobContext(kills=Kills(2)), little)
    assert (one.rule, one.title) == ("memoryNearLimit", "Tasks were killed for lack of memory")
    assert one.sentence == (
        "In 5 % of 40 runs the peak was 2.0 GiB or more, of the 16.0 GiB that their slots offer. The kernel killed"
        " 2 tasks for lack of memory."
    )
    assert one.evidence["killedTasks"] == 2


def test_kills_by_a_containers_limit_are_advised_a_higher_one_and_need_no_measured_runs() -> None:
    one = only(JobContext(kills=Kills(1, is_limit=True)), SOUND[:3])
    assert one.advice.startswith("Raise the memory limit of the tasks' containers")
    assert one.sentence.endswith("The kernel killed 1 task for lack of memory.")


def test_a_time_limit_of_ten_times_what_the_job_took_is_too_long() -> None:
    limit = TimeLimit(timedelta(days=7), timedelta(hours=2))
    one = only(JobContext(time_limit=limit))
    assert one.sentence == (
        "The job may take 7 days, and took 2 hours; 95 % of 40 runs ended within 60 minutes, and all within"
        " 60 minutes. A task that hangs would hold its slots until the limit."
    )
    assert one.advice == "Set maxWallClockTime of the job to 4 hours, and that of its tasks to 2 hours."
    assert one.evidence["sufficientLimit"] == timedelta(hours=4)
    assert codes(JobContext(time_limit=replace_limit(limit, hours=19))) == []
    assert codes(JobContext(time_limit=TimeLimit(50 * MINUTE, 2 * MINUTE))) == []
    assert codes(JobContext(time_limit=limit), SOUND[:4]) == []
    at_once = [one._replace(duration=0) for one in SOUND]
    brief = only(JobContext(time_limit=TimeLimit(timedelta(days=7), timedelta())), at_once)
    assert brief.advice == "Set maxWallClockTime of the job to 10 minutes, and that of its tasks to 10 minutes."


def replace_limit(limit: TimeLimit, *, hours: int) -> TimeLimit:
    return limit._replace(limit=timedelta(hours=hours))


def test_a_time_limit_of_tasks_of_ten_times_the_longest_run_is_too_long() -> None:
    known = TaskLimit(("task-0001", "task-0000"), timedelta(days=7))
    one = only(JobContext(task_limit=known, runs=OVER))
    assert (one.rule, one.title) == ("taskTimeLimitTooLong", "The time limit of tasks is far too long")
    assert one.sentence == (
        "A task may run for 7 days; 95 % of 40 runs ended within 60 minutes, and all within 60 minutes. A task that"
        " hangs would hold its slots until the limit."
    )
    assert one.advice == "Set maxWallClockTime of the tasks to 2 hours."
    assert (one.evidence["taskTimeLimit"], one.evidence["exampleTasks"]) == (known.limit, known.tasks)
    for limit in (timedelta(hours=9), None):
        assert codes(JobContext(runs=OVER, task_limit=known._replace(limit=limit))) == []
    assert codes(JobContext(runs=OVER, task_limit=known._replace(reason="Unknown."))) == []
    assert codes(JobContext(task_limit=known, runs=OVER), SOUND[:4]) == []


def test_nothing_is_said_of_the_limit_of_tasks_while_some_are_left() -> None:
    short = [run(at, cores=3.8, memory=12.0, hours=0.01) for at in range(20)]
    known = TaskLimit(("task-0001",), timedelta(hours=12))

    def named(runs: BatchRuns | None) -> list[Finding]:
        return list(efficiency_findings(evidence(short, tasks=1000, context=JobContext(task_limit=known, runs=runs))))

    seconds = timedelta(seconds=34), timedelta(seconds=37)
    assert named(BatchRuns(are_over=False)) == named(BatchRuns(False, *seconds)) == named(None) == []
    assert named(BatchRuns(are_over=True)) == []
    (one,) = named(BatchRuns(True, *seconds))
    assert one.evidence["longestRun"] == timedelta(seconds=36)


def test_runs_that_were_not_measured_count_for_advised_limits() -> None:
    hour, week = timedelta(hours=1), timedelta(days=7)
    runs = BatchRuns(True, 2.5 * hour, 2.75 * hour)
    one = only(JobContext(task_limit=TaskLimit((), week), runs=runs))
    assert one.advice == "Set maxWallClockTime of the tasks to 6 hours."
    assert "and all within 3 hours." in one.sentence
    assert codes(JobContext(task_limit=TaskLimit((), 20 * hour), runs=runs)) == []
    job = only(JobContext(time_limit=TimeLimit(week, 4 * hour), runs=runs))
    assert job.advice == "Set maxWallClockTime of the job to 8 hours, and that of its tasks to 6 hours."
    few = efficiency_findings(evidence(SOUND, tasks=1000, context=JobContext(time_limit=TimeLimit(week, 4 * hour))))
    assert [(one.advice, one.evidence["sufficientTaskLimit"]) for one in few] == [
        ("Set maxWallClockTime of the job to 8 hours.", None)
    ]


def test_a_limit_that_ends_hanging_tasks_in_time_suffices_beside_one_that_is_too_long() -> None:
    week, hours = timedelta(days=7), timedelta(hours=3)
    job = TimeLimit(week, hours)
    assert codes(JobContext(time_limit=job, task_limit=TaskLimit((), hours, week))) == []
    assert codes(JobContext(task_limit=TaskLimit((), week, hours), runs=OVER)) == []
    assert codes(JobContext(time_limit=job, task_limit=TaskLimit((), week, week))) == ["timeLimitTooLong"]
    assert codes(JobContext(time_limit=job, task_limit=TaskLimit((), None, week))) == ["timeLimitTooLong"]
    assert codes(JobContext(time_limit=TimeLimit(week, week / 2), task_limit=TaskLimit((), week, week), runs=OVER)) == [
        "taskTimeLimitTooLong"
    ]


def test_start_ups_of_more_node_time_than_all_runs_are_named() -> None:
    one = only(JobContext(start_ups=StartUpTime(51 * HOUR, 49 * HOUR)))
    assert one.sentence == (
        "Nodes spent 2 days to start, the job's share of the start-ups of its pool, and its tasks held them for 2 days;"
        " half of 40 runs took at most 60 minutes."
    )
    assert "51 % of the time was start-up" in one.advice
    assert one.evidence == {
        "startUpTime": timedelta(hours=51), "runTime": timedelta(hours=49), "startUpShare": 0.51,
        "medianRun": timedelta(hours=1), "vmSize": "standard_d4s_v5", "measuredRuns": 40,
    }  # fmt: skip
    assert codes(JobContext(start_ups=StartUpTime(50 * HOUR, 50 * HOUR))) == []
    assert codes(JobContext(start_ups=StartUpTime(HOUR - 1, 1))) == []
    assert codes(JobContext(start_ups=StartUpTime(2 * HOUR, HOUR)), SOUND[:4]) == []


def test_work_lost_on_spot_nodes_is_named_and_dedicated_nodes_where_they_would_have_cost_less() -> None:
    cheap = NodeKindUse(100 * HOUR, 60 * HOUR, Decimal(20), Decimal(100))
    assert only(JobContext(spot=cheap)).amount is None
    assert "checkpoints" in only(JobContext(spot=cheap)).advice
    dear = replace(cheap, cost=Decimal(60))
    one = only(JobContext(spot=dear))
    assert (one.title, one.amount) == ("Spot nodes lost 60 % of the work", (Decimal(20), "money"))
    assert one.advice.startswith("Take dedicated nodes for this job")
    assert codes(JobContext(spot=replace(cheap, interrupted=29 * HOUR))) == []
    assert codes(JobContext(spot=NodeKindUse(HOUR, HOUR // 2))) == []
    assert only(JobContext(spot=replace(cheap, cost=None))).amount is None


def test_dedicated_nodes_are_named_where_the_job_also_ran_well_on_spot_nodes() -> None:
    own = NodeKindUse(30 * HOUR, 0, Decimal(60), Decimal(15))
    spot = NodeKindUse(10 * HOUR, HOUR // 2, Decimal(5), Decimal(20))
    one = only(JobContext(dedicated=own, spot=spot))
    assert (one.rule, one.amount) == ("spotSuffices", (Decimal(45), "money"))
    assert one.sentence == (
        "75 % of the time of its tasks was on dedicated nodes; on spot nodes 5 % of it gave no result."
    )
    for other in (JobContext(dedicated=own), JobContext(dedicated=own, spot=replace(spot, interrupted=2 * HOUR))):
        assert codes(other) == []
    assert codes(JobContext(dedicated=replace(own, otherwise=None), spot=spot)) == []
    assert codes(JobContext(dedicated=replace(own, otherwise=Decimal(70)), spot=spot)) == []


@pytest.mark.parametrize(
    ("nodes", "sentence", "advice"),
    [
        (
            NodeFigures(3, stolen=0.12),
            "While the job ran, the hosts of 3 nodes gave 12 % of their CPU time to other machines.",
            "Take a VM size that doesn't share its cores",
        ),
        (
            NodeFigures(1, stolen=0.01, throttled=0.3),
            "While the job ran, containers on 1 node waited for 30 % of the nodes' CPU time at their limits.",
            "Raise the CPU limit of the tasks' containers",
        ),
    ],
)
def test_stolen_and_throttled_time_are_named(nodes: NodeFigures, sentence: str, advice: str) -> None:
    one = only(JobContext(nodes=nodes))
    assert (one.rule, one.sentence) == ("stolenTime", sentence)
    assert one.advice.startswith(advice)
    assert codes(JobContext(nodes=replace(nodes, stolen=0.04, throttled=None))) == []


def test_a_busy_network_is_named_where_cores_are_idle() -> None:
    idle = [run(at, cores=0.1, memory=12.0) for at in range(40)]
    nodes = NodeFigures(2, network=80.0 * MEBI)
    one = only(JobContext(nodes=nodes), idle)
    assert one.sentence == (
        "Half of 40 runs kept at most 0.1 cores busy on average, while 2 nodes received and sent 80 MiB a second each."
    )
    assert one.evidence["networkMiBPerSecond"] == 80.0
    assert codes(JobContext(nodes=nodes)) == []
    assert codes(JobContext(nodes=replace(nodes, network=40.0 * MEBI)), idle) == ["oneBusyCore"]
