"""Each rule of conditions: what it says of staged accounts, and where it is silent."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain.accounts.monitoring import Monitoring
from shared.domain.conditions.evaluation import evaluated
from shared.domain.conditions.rules.all_rules import RULES
from shared.domain.conditions.staleness import unknown_by_verdict
from shared.domain.core.stamps import to_milliseconds
from shared.domain.findings.finding import Amount
from shared.domain.findings.thresholds import EVENT_IS_NEWS, RUN_IS_LATE, STUCK_AFTER
from shared.domain.jobs.waiting_causes import WaitingCause
from shared.domain.nodes.interruptions import NONE, InterruptionCount
from shared.domain.pools.pool_facts import Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.domain.pools.resize_errors import ResizeError
from shared.domain.reports.reports import MonitoringReport
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.conditions.made_account import (
    DAY,
    MINUTE,
    NOW,
    a_job,
    a_pool,
    a_round,
    a_schedule,
    account,
    findings,
    outcomes,
    titles,
)

SECOND = timedelta(seconds=1)
WAITING = TaskCounts(active=412)
ERROR = ResizeError("AccountCoreQuotaReached", "No more cores.", NOW - MINUTE, NOW - MINUTE)


def test_an_account_whose_rounds_fail_is_named_with_the_reason_and_since_when() -> None:
    (found,) = findings("accountUnpolled", last=a_round(NOW - MINUTE, reason="It answers 403.", failed_rounds=4))
    assert found.title == "The account 'demo' isn't polled"
    assert found.sentence == (
        "The last poll failed: It answers 403. Everything that is shown of it is as of 2026-03-01 11:59:00 UTC."
    )
    assert (found.since, found.evidence["failedRounds"]) == (NOW - MINUTE, 4)


def test_an_account_that_is_not_polled_any_more_is_named_once_its_data_is_out_of_date() -> None:
    (fresh,) = outcomes("accountUnpolled", last=a_round(NOW - 4 * MINUTE))
    assert (fresh.finding, fresh.due) == (None, NOW + 11 * MINUTE)
    (found,) = findings("accountUnpolled", last=a_round(NOW - 5 * MINUTE))
    assert found.sentence.startswith("Not polled for 5 min.")


def test_an_account_that_is_off_or_was_never_polled_is_not_named() -> None:
    off = MonitoringReport(Monitoring(enabled=False), MINUTE)
    assert not outcomes("accountUnpolled", watch=off, last=a_round(NOW - DAY, reason="r"))
    assert not outcomes("accountUnpolled", last=None)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (TaskCounts(running=2, completed=40, succeeded=30, failed=10), ["25% of the tasks of 'job' fail"]),
        (TaskCounts(running=2, completed=40, succeeded=37, failed=3), []),
        (TaskCounts(running=2, completed=9, succeeded=0, failed=9), []),
        (TaskCounts(running=2, completed=10, succeeded=0, failed=10), ["100% of the tasks of 'job' fail"]),
    ],
)
def test_a_job_fails_where_a_tenth_of_at_least_ten_ended_tasks_did(counts: TaskCounts, expected: list[str]) -> None:
    assert titles("jobFailing", jobs=[a_job(counts=counts)]) == expected


def test_a_job_that_fails_as_its_earlier_runs_did_is_not_named() -> None:
    usual, worse = (TaskCounts(completed=100, succeeded=100 - failed, failed=failed) for failed in (30, 61))
    earlier = [a_job(f"s:job-{n}", usual, creation_time=NOW - n * DAY, state="completed") for n in (1, 2, 3)]
    assert titles("jobFailing", jobs=[*earlier, a_job("s:job-4", usual, creation_time=NOW)]) == []
    (found,) = findings("jobFailing", jobs=[*earlier, a_job("S:job-4", worse, creation_time=NOW)])
    assert found.sentence == "61 of 100 ended tasks failed. In earlier runs of its schedule, 30% did."
    assert found.amount == Amount(61, "tasks")


def test_a_job_that_has_ended_or_is_deleted_fails_no_more() -> None:
    counts = TaskCounts(completed=40, failed=40)
    jobs = [a_job("a", counts, state="completed"), a_job("b", counts, deleted_at=NOW), a_job("c")]
    assert not outcomes("jobFailing", jobs=jobs)


def test_a_job_is_stuck_once_nothing_has_moved_for_a_while_and_says_its_cause() -> None:
    moved = NOW - STUCK_AFTER
    (early,) = outcomes("jobStuck", jobs=[a_job(counts=WAITING, moved=moved + SECOND)])
    assert (early.finding, early.due) == (None, NOW + SECOND)
    (found,) = findings("jobStuck", jobs=[a_job(counts=WAITING, moved=moved, waiting=WaitingCause("poolIsEmpty", NOW))])
    assert found.sentence == "412 tasks are waiting, none is running, and none has moved for 15 min."
    assert (found.since, found.amount, found.evidence["cause"]) == (moved, Amount(412, "tasks"), "poolIsEmpty")


@pytest.mark.parametrize(
    "counts", [TaskCounts(active=9, running=1), TaskCounts(active=9, preparing=1), TaskCounts(completed=9)]
)
def test_a_job_with_a_running_task_or_none_that_waits_is_not_stuck(counts: TaskCounts) -> None:
    assert not outcomes("jobStuck", jobs=[a_job(counts=counts, moved=NOW - DAY)])


def test_starts_and_ends_of_jobs_are_events_with_their_times() -> None:
    counts = TaskCounts(active=1, completed=9, succeeded=7, failed=2)
    ended: dict[str, Any] = {"state": "completed", "start_time": NOW - 30 * MINUTE, "end_time": NOW - MINUTE}
    job = a_job("render", counts, finalized=True, terminate_reason="UserTerminate", **ended)
    (start,), (end,) = outcomes("jobStarted", jobs=[job]), outcomes("jobFinished", jobs=[job])
    assert start.finding
    assert end.finding
    assert (start.at, start.finding.sentence) == (NOW - 30 * MINUTE, "It started on the pool 'pool'.")
    assert (end.at, end.finding.sentence) == (
        NOW - MINUTE,
        "It ended after 29 min (UserTerminate): 7 of 10 tasks succeeded, 2 failed. 1 task had not run.",
    )


def test_ends_wait_for_the_last_counts_and_old_events_are_left_out() -> None:
    counts = TaskCounts(completed=9, succeeded=9)
    assert not outcomes("jobFinished", jobs=[a_job(counts=counts, end_time=NOW)])
    assert not outcomes("jobFinished", jobs=[a_job(counts=counts, end_time=NOW - EVENT_IS_NEWS, finalized=True)])
    assert not outcomes("jobStarted", jobs=[a_job(start_time=NOW - EVENT_IS_NEWS)])


def test_a_pool_whose_resize_failed_is_named_while_it_lacks_nodes() -> None:
    lacking = {"dedicated": Size(2, 10), "spot": Size(0, 0)}
    (found,) = findings("poolResizeFailed", pools=[a_pool({"idle": 2}, errors=(ERROR,), **lacking)])
    assert found.title == "The pool 'pool' lacks 8 nodes"
    assert found.sentence.startswith("Its resize ended with AccountCoreQuotaReached.")
    assert (found.severity, found.since, found.amount) == ("limiting", NOW - MINUTE, Amount(8, "nodes"))
    (empty,) = findings("poolResizeFailed", pools=[a_pool({}, errors=(ERROR,), dedicated=Size(0, 8), spot=Size(0, 0))])
    assert empty.severity == "blocking"
    has_all = a_pool({"idle": 2}, errors=(ERROR,), dedicated=Size(2, 2), spot=Size(0, 0))
    assert not outcomes("poolResizeFailed", pools=[has_all])


def test_a_pool_whose_formula_fails_is_named() -> None:
    failing = AutoScale("$x = ", evaluated_at=NOW, error=Problem("AutoScalingFormulaEvaluationError", "Bad."))
    (found,) = findings("poolAutoScaleFailed", pools=[a_pool({"idle": 1}, auto_scale=failing, dedicated=Size(1, 1))])
    assert found.sentence == (
        "Its formula can't be evaluated (AutoScalingFormulaEvaluationError: Bad), so it keeps its 1 node."
    )
    assert not outcomes("poolAutoScaleFailed", pools=[a_pool({}, auto_scale=AutoScale("$x = 1;", evaluated_at=NOW))])
    assert not outcomes("poolAutoScaleFailed", pools=[a_pool({}, auto_scale=failing, state="deleting")])


@pytest.mark.parametrize(
    ("rule", "nodes", "expected"),
    [
        ("nodesUnusable", {"idle": 15, "unusable": 3, "unknown": 2}, "5 of 20 nodes of 'pool' can't be used"),
        ("nodesUnusable", {"idle": 99, "unusable": 1}, None),
        ("nodesUnusable", {"idle": 19, "unusable": 1}, "1 of 20 nodes of 'pool' can't be used"),
        ("startTasksFailed", {"starttaskfailed": 2}, "2 of 2 nodes of 'pool' failed to start"),
        ("startTasksFailed", {"idle": 2}, None),
    ],
)
def test_nodes_that_run_no_tasks_are_named_from_a_share_of_the_pool_on(
    rule: str, nodes: dict[str, int], expected: str | None
) -> None:
    assert titles(rule, pools=[a_pool(nodes)]) == ([expected] if expected else [])


def test_flapping_nodes_are_named_until_they_stop_counting_as_such() -> None:
    until = [NOW, NOW + 5 * MINUTE, NOW + 9 * MINUTE]
    snapshot = {"flapping": tuple((to_milliseconds(at), number) for number, at in enumerate(until, 1))}
    (found,) = outcomes("nodesFlapping", pools=[a_pool({"idle": 9}, snapshot=snapshot)])
    assert found.finding
    assert (found.finding.title, found.due) == ("5 nodes of 'pool' flap", NOW + 5 * MINUTE)


def test_spot_nodes_that_are_interrupted_often_are_named_until_an_hour_has_passed() -> None:
    tally = NONE
    for ago in (70, 50, 40):
        tally = tally.interrupted(to_milliseconds(NOW - ago * MINUTE))
    snapshot = {"tally": InterruptionCount(0, tally)}
    few, many = (a_pool({"idle": 8}, snapshot=snapshot, spot=Size(8, number)) for number in (8, 9))
    (found,) = outcomes("spotNodesInterrupted", pools=[few])
    assert found.finding
    assert found.finding.sentence == "2 interruptions of 8 spot nodes within an hour."
    assert found.due
    assert NOW + 10 * MINUTE <= found.due <= NOW + 15 * MINUTE
    assert not outcomes("spotNodesInterrupted", pools=[many])


def test_a_run_of_a_schedule_is_late_some_minutes_after_it_was_due() -> None:
    due = NOW - RUN_IS_LATE
    (early,) = outcomes("scheduleRunLate", schedules=[a_schedule(due + SECOND)])
    assert (early.finding, early.due) == (None, NOW + SECOND)
    (found,) = findings("scheduleRunLate", schedules=[a_schedule(due, recent_job="nightly:job-7")])
    assert found.sentence == "A job was due 5 min ago, and there is none. Its most recent job is 'nightly:job-7'."
    assert not findings("scheduleRunLate", schedules=[a_schedule(due, as_of=NOW - SECOND)])
    assert not outcomes("scheduleRunLate", schedules=[a_schedule(None), a_schedule(due, state="disabled")])


def test_nothing_is_said_of_what_is_out_of_date_and_what_fired_stays_unknown() -> None:
    first, then = account(), account(jobs=[a_job(counts=WAITING, moved=NOW - DAY)])
    stale = account(jobs=[a_job(counts=WAITING, moved=NOW - DAY, level="stale")], now=NOW + 2 * MINUTE)
    before = evaluated(None, [(rule, list(rule.outcomes(first))) for rule in RULES], unknown_by_verdict(first), NOW)
    for evidence, states in ((then, [("firing", None)]), (stale, [("firing", ".")])):
        found = [(rule, list(rule.outcomes(evidence))) for rule in RULES]
        before = evaluated(before, found, unknown_by_verdict(evidence), evidence.now + SECOND)
        assert [(one.state, one.unknown) for one in before.conditions.values()] == states
    fresh = evaluated(None, [(rule, list(rule.outcomes(stale))) for rule in RULES], unknown_by_verdict(stale), NOW)
    assert not fresh.conditions


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
