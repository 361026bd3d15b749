"""Which failed runs are chosen, within which limits, and why others aren't kept."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.files.file_parts import Part
from shared.domain.leaves.leaf_summaries import Summary, summary_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.outputs.failed_runs import (
    MAX_OF_JOB,
    MAX_TRIED,
    FailedRun,
    StoredRuns,
    failed_since,
    first_of_each,
    may_have_failed_since,
)
from shared.domain.outputs.kept_outputs import JobOutputs, KeptTail, OutputMark, expiry_day
from shared.domain.outputs.output_limits import MAX_READ, OutputLimits, OutputRate, SpentOutputs, numbers_by_place
from shared.domain.outputs.unkept_outputs import KeepingConditions, sentence_of, why_unkept, why_without_row
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
EACH = 5
RATE = OutputRate(10 * MAX_READ, 60)
RUNS = st.lists(
    st.builds(
        FailedRun,
        st.integers(0, 40),
        st.uuids().map(str),
        st.sampled_from("abc"),
        st.tuples(st.just("pool"), st.sampled_from("12345678")),
    ),
    max_size=80,
)


def five(_pool: str) -> int:
    return EACH


def failed(name: str, ended: int, *, node: str = "n1", code: int = 1) -> Task:
    return Task(name, COMPLETED, FAILURE, ended, end=ended, exit_code=code, node=("pool", node))


@given(RUNS)
def test_each_group_and_node_is_represented_and_no_run_is_chosen_for_neither(runs: list[FailedRun]) -> None:
    chosen = list(first_of_each(runs, {}, {}, five))
    assert len(chosen) == len(set(chosen))
    for place in ("group", "node"):
        of_each = Counter(getattr(run, place) for run in runs)
        found = Counter(getattr(run, place) for run in chosen)
        assert all(found[one] >= min(EACH, number) for one, number in of_each.items())
    groups, nodes = len({run.group for run in runs}), len({run.node for run in runs})
    assert len(chosen) <= EACH * (groups + nodes)
    first = chosen[: groups + nodes]
    assert {run.group for run in first} == {run.group for run in runs}
    assert {run.node for run in first} == {run.node for run in runs}


@given(RUNS, RUNS)
def test_choosing_from_choices_of_parts_gives_the_choice_from_all(some: list[FailedRun], more: list[FailedRun]) -> None:
    of_parts = [*first_of_each(some, {}, {}, five), *first_of_each(more, {}, {}, five)]
    assert list(first_of_each(of_parts, {}, {}, five)) == list(first_of_each([*some, *more], {}, {}, five))


def test_a_pool_may_have_another_number_of_each() -> None:
    runs = [FailedRun(at, f"t{at}", "a", (pool, "n1")) for at in range(9) for pool in ("pool", "other")]
    tasks = [failed(f"t{at}", at)._replace(node=("pool", "n1")) for at in range(9)]
    each = {"pool": 2, "other": 0}
    chosen = list(first_of_each(runs, {}, {}, lambda pool: each[pool]))
    assert [run.node[0] for run in chosen] == ["pool"] * 2
    assert len(failed_since(Leaf(tasks), range(9), 0, StoredRuns(), lambda pool: each[pool])[0]) == 2


def test_what_was_kept_before_leaves_less_to_choose() -> None:
    runs = [FailedRun(at, f"t{at}", "a", ("pool", "n1")) for at in range(9)]
    assert list(first_of_each(runs, {"a": EACH}, {("pool", "n1"): EACH - 1}, five)) == runs[:1]
    assert list(first_of_each(runs, {"a": EACH}, {("pool", "n1"): EACH}, five)) == []


def test_nodes_that_were_gone_leave_room_for_others() -> None:
    gone = tuple(FailedRun(at, f"g{at}", "a", ("pool", f"n{at}")) for at in range(MAX_OF_JOB))
    later = FailedRun(900, "t", "a", ("pool", "here"))
    assert JobOutputs(missed=gone).chosen([later], five) == [later]
    assert JobOutputs(missed=gone * 5).chosen([later], five) == []
    assert JobOutputs(kept=gone).chosen([later], five) == []


def test_a_later_run_of_a_kept_task_is_chosen_however_many_are_kept() -> None:
    kept = JobOutputs(kept=tuple(FailedRun(at, f"t{at}", "a", ("pool", "n1")) for at in range(MAX_OF_JOB)))
    again, other = FailedRun(900, "t7", "a", ("pool", "n1")), FailedRun(800, "u", "b", ("pool", "n2"))
    assert kept.chosen([again, other], five) == [again]
    assert replace(kept, kept=kept.kept[:9]).chosen([again, other], five) == [other, again]


def test_a_leaf_gives_later_runs_of_kept_tasks_beside_the_first_ones() -> None:
    leaf = Leaf([failed(f"t{at}", 1000 + at) for at in range(9)])
    runs, _ = failed_since(leaf, range(9), 1000, StoredRuns(kept={"t0", "t8"}), five)
    assert [run.task_id for run in runs] == ["t0", "t1", "t2", "t3", "t4", "t5", "t8"]


def test_a_leaf_gives_its_failed_runs_since_a_time() -> None:
    tasks = [failed(f"t{at}", 1000 + at) for at in range(9)]
    tasks += [Task("u", COMPLETED, SUCCESS, 9000, node=("pool", "n1")), failed("v", 9001, node=""), failed("w", 9002)]
    leaf = Leaf(tasks)
    runs, newest = failed_since(leaf, range(len(tasks)), 1003, StoredRuns({("t3", 1003)}), five)
    assert [run.task_id for run in runs] == ["t4", "t5", "t6", "t7", "t8"]
    assert newest == 9002
    assert failed_since(leaf, range(len(tasks)), 9003, StoredRuns(), five) == ([], 9003)


def test_leaves_without_newer_failures_are_not_read() -> None:
    leaf = Leaf([failed("a", 1000), failed("b", 2000)])
    summary, counts = summary_of(leaf), leaf.counts()
    assert may_have_failed_since(2000)(counts, summary.pack())
    assert not may_have_failed_since(2001)(counts, summary.pack())
    assert may_have_failed_since(2001)(counts, None)
    assert not may_have_failed_since(0)(replace(counts, failed=0), None)
    assert may_have_failed_since(2001)(counts, Summary(failures=replace(summary.failures, ungrouped=1)).pack())


def test_a_job_goes_on_where_it_ended_and_looks_back_for_late_reports() -> None:
    since = int(NOW.timestamp() * 1000) - 1000
    assert OutputMark(NOW, since).begins(NOW) == since - 600_000
    assert OutputMark(NOW, since, after=since).begins(NOW) == since
    assert OutputMark(NOW).begins(NOW) == int((NOW - DAY).timestamp() * 1000)


def test_an_output_expires_on_the_day_after_its_time_is_over() -> None:
    assert (
        expiry_day(NOW, timedelta(days=30)) * DAY - timedelta(hours=12)
        == NOW - datetime(1970, 1, 1, tzinfo=UTC) + 30 * DAY
    )


@pytest.mark.parametrize(
    ("wanted", "shown"), [((0, 20), (6, b"6789")), ((8, 9), (8, b"8")), ((0, 3), (6, b"")), ((10, 10), (10, b""))]
)
def test_a_part_of_a_kept_end_is_what_was_kept_of_it(wanted: tuple[int, int], shown: tuple[int, bytes]) -> None:
    assert KeptTail(10, 6, b"6789").within(Part(*wanted)) == shown


def test_limits_leave_room_until_they_are_spent_and_again_later() -> None:
    spent = SpentOutputs().at(NOW)
    assert spent.room(RATE) == 10
    spent = spent.plus(tasks=58, read=0)
    assert spent.room(RATE) == 2
    assert spent.plus(tasks=0, read=9 * MAX_READ + 1).room(RATE) == 0
    assert spent.plus(tasks=9, read=99 * MAX_READ).room(RATE) == 0
    later = spent.plus(tasks=0, read=10 * MAX_READ).at(NOW + timedelta(minutes=1))
    assert (later.tasks, later.room(RATE)) == (0, 0)
    assert later.at(NOW + DAY).room(RATE) == 10


def test_a_slower_clock_does_not_begin_the_minute_of_a_faster_one_anew() -> None:
    ahead = SpentOutputs().at(NOW + timedelta(minutes=1)).plus(tasks=60, read=0)
    assert ahead.at(NOW).room(RATE) == 0


def test_limits_are_those_of_the_pool_or_the_account_or_all_others() -> None:
    accounts = {"demo", "other"}
    days = numbers_by_place("14, Demo=7 demo/Secret=0", accounts, 30, low=0, high=3650, has_pools=True)
    a_day, a_minute = (
        numbers_by_place(text, accounts, 9, low=1, high=99, has_pools=False) for text in ("50 other=20", "demo=3")
    )
    each = numbers_by_place("demo=3 demo/wide=9", accounts, 5, low=1, high=200, has_pools=True)
    limits = OutputLimits({place: number * DAY for place, number in days.items()}, a_day, a_minute, each)
    assert limits.kept_for("demo", "SECRET") == timedelta()
    assert limits.kept_for("demo", "open") == 7 * DAY
    assert limits.kept_for("other", "open") == 14 * DAY
    assert limits.keeps_any
    assert not OutputLimits({"": timedelta()}, a_day, a_minute, each).keeps_any
    pools = ("demo", "Wide"), ("demo", "open"), ("demo", "secret"), ("other", "open")
    assert [limits.each(*pool) for pool in pools] == [9, 3, 0, 5]
    assert (limits.rate("demo"), limits.rate("other")) == (OutputRate(50, 3), OutputRate(20, 9))


@pytest.mark.parametrize("entry", ["x", "-1", "3651", "demo=", "=3", "demo/=3", "/p=3", "nobody=3", "1.5"])
def test_numbers_that_make_no_sense_are_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=entry if entry != "nobody=3" else "none of the watched accounts"):
        numbers_by_place(entry, {"demo"}, 30, low=0, high=3650, has_pools=True)


@pytest.mark.parametrize("entry", ["0", "demo=100", "demo/pool=3"])
def test_numbers_of_accounts_are_within_limits_and_not_of_pools(entry: str) -> None:
    with pytest.raises(ValueError, match=f"'{entry}' is not a number from 1 to 99, or ACCOUNT=NUMBER"):
        numbers_by_place(entry, {"demo"}, 30, low=1, high=99, has_pools=False)


def _why(task: Task, kept: JobOutputs | None = None, **changes: Any) -> str:
    conditions = KeepingConditions(EPOCH, DAY, SpentOutputs().at(EPOCH), EACH, RATE)
    code = why_without_row(task, kept or JobOutputs(), replace(conditions, **changes))
    assert sentence_of(code).endswith(".")
    return code


def test_each_task_without_a_kept_output_has_a_reason() -> None:
    task, run, nothing = failed("t", 1000), FailedRun.of(failed("other", 900)), SpentOutputs().at(EPOCH)
    assert _why(task._replace(result=SUCCESS)) == "NotFailed"
    assert _why(failed("t", 1000, node="")) == "NeverRan"
    assert _why(task, kept_for=timedelta()) == "NotKeptHere"
    assert _why(task, JobOutputs(kept=(run,) * EACH)) == "EnoughKept"
    assert _why(task, JobOutputs(missed=(run,) * MAX_TRIED)) == "JobBound"
    others = tuple(run._replace(task=f"o{at}", group=f"g{at}") for at in range(MAX_OF_JOB))
    assert _why(task, JobOutputs(kept=others)) == "JobBound"
    assert _why(task, JobOutputs(missed=others)) == "NotYet"
    assert _why(task, JobOutputs(OutputMark(NOW, since=2000))) == "Gone"
    assert _why(task) == "NotYet"
    assert _why(task, spent=nothing.plus(tasks=0, read=10 * MAX_READ)) == "BudgetSpent"
    assert _why(task, spent=nothing.plus(tasks=60, read=0)) == "NotYet"
    assert _why(task, is_watched=False) == "MonitoringOff"
    assert _why(task, has_polls=False) == "PollFailed"


def test_no_turn_is_promised_to_a_task_that_failed_more_than_a_day_ago() -> None:
    task = failed("t", 1000)
    assert _why(task, now=EPOCH + DAY) == "NotYet"
    late = EPOCH + DAY + timedelta(seconds=2)
    assert (
        _why(task, now=late)
        == _why(task, now=late, is_watched=False)
        == _why(task, now=late, has_polls=False)
        == "Gone"
    )


def test_a_node_that_was_gone_is_said_with_how_soon() -> None:
    run = FailedRun(int(NOW.timestamp() * 1000), "t", "g", ("pool", "n1"))
    assert why_unkept("NodeNotFound", run, NOW + timedelta(seconds=40)) == (
        "There was nothing to keep 40 s after the failure: the node was removed, and its files with it (NodeNotFound)."
    )
    assert "11 min after" in why_unkept("FileNotFound", run, NOW + timedelta(minutes=11))
    assert why_unkept("NotText", run, NOW) == "It is no text, so its secrets can't be masked."
