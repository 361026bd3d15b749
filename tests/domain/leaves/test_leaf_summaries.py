"""Summaries of leaves, against plain counting over their tasks after any folding, splitting, packing or summing."""

import json
from collections import Counter
from itertools import pairwise
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.leaves.leaf_summaries import Summary, summary_after, summary_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.packing.compression import deflated, inflated
from shared.domain.tasks.failures import Failures, failure_group_id
from shared.domain.tasks.histograms import RELATIVE_ERROR, Histogram, bucket_of
from shared.domain.tasks.job_statistics import MINUTES, StoredJobStatistics
from shared.domain.tasks.tasks import Task
from tests.domain.support.summary_oracle import blamed, insight_of_rows
from tests.domain.support.task_strategies import distinct, tasks
from tests.profiles import half_as_many

BASE = 1_763_000_000_000
near = st.just(0) | st.integers(BASE, BASE + 6 * 3_600_000)
usual_tasks = st.builds(
    Task,
    id=st.text("abcDEF", min_size=1, max_size=4),
    state=st.sampled_from((0, 1, 2, 3, 3, 3)),
    result=st.integers(0, 2),
    transition=near,
    creation=near,
    start=near,
    end=near,
    exit_code=st.sampled_from((None, 0, 1, 137)),
    failure=st.sampled_from((("", ""), ("usererror", "FailureExitCode"), ("servererror", "DiskFull"))),
    retries=st.sampled_from((0, 0, 0, 1, 3)),
    requeues=st.sampled_from((0, 0, 0, 2)),
    slots=st.integers(1, 4),
    node=st.sampled_from((("", ""), ("pool", "n1"), ("pool", "n2"), ("other", "n1"))),
)
many_tasks = st.lists(usual_tasks | tasks, max_size=40)


@half_as_many()
@given(many_tasks, many_tasks, st.integers(2, 9))
def test_the_summaries_of_leaves_add_up_to_plain_counting(before: list[Task], seen: list[Task], limit: int) -> None:
    leaf = Leaf.unpack(Leaf(distinct(before)).pack())
    leaf.fold(seen)
    rows = distinct([*before, *seen])
    parts = [Leaf.unpack(part.pack()) for part in leaf.split(limit)]
    stored = [Summary.unpack(summary_of(part).pack()) for part in parts]
    summed = Summary.summed([summary for summary in stored if summary])
    assert len(stored) == len(parts)
    assert summed == summary_of(leaf) == Summary(insight_of_rows(rows), blamed(rows))


@half_as_many()
@given(many_tasks, st.lists(st.tuples(many_tasks, st.booleans()), min_size=1, max_size=4))
def test_a_summary_that_follows_changes_is_as_one_reckoned_anew(
    first: list[Task], folds: list[tuple[list[Task], bool]]
) -> None:
    rows = distinct(first)
    leaf = Leaf.unpack(Leaf(rows).pack())
    stored, counts = summary_of(leaf).pack(), leaf.counts()
    for seen, is_written in folds:
        leaf.fold(seen)
        rows = distinct([*rows, *seen])
        followed = summary_after(stored, counts, leaf)
        assert followed == Summary(insight_of_rows(rows), blamed(rows))
        if is_written:
            stored, counts, leaf = followed.pack(), leaf.counts(), Leaf.unpack(leaf.pack())


@half_as_many()
@given(many_tasks, st.data())
def test_a_damaged_summary_is_none_or_one_that_still_adds_up(rows: list[Task], data: st.DataObject) -> None:
    whole = summary_of(Leaf(distinct(rows))).pack()
    at = data.draw(st.integers(0, len(whole) - 1))
    cut, flipped = whole[:at], bytes([*whole[:at], data.draw(st.integers(0, 255)), *whole[at + 1 :]])
    altered = deflated(inflated(whole).replace(data.draw(st.sampled_from([b",", b"0", b"[", b'"'])), b".", 1))
    for stored in (cut, flipped, altered):
        summary = Summary.unpack(stored)
        assert summary is None or Summary.summed([summary, summary]).pack()
        insight = StoredJobStatistics(b"", stored).unpack()
        assert insight is None or insight.waits.count == 0 or insight.waits.quantile(50) >= 0


def test_an_earlier_summary_is_used_only_where_its_counts_fit() -> None:
    other = Leaf([Task("x", 3, 1, end=BASE + 60_000)])
    leaf = Leaf.unpack(Leaf([Task("a", 3, 1, end=BASE), Task("b", 0)]).pack())
    leaf.fold([Task("b", 3, 1, end=BASE)])
    followed = summary_after(summary_of(other).pack(), other.counts(), leaf)
    assert followed.statistics.completions == ((BASE // 60_000, 1), (BASE // 60_000 + 1, 1))
    assert summary_after(summary_of(other).pack(), leaf.counts(), leaf) == summary_of(leaf)


@given(st.integers(MINUTES - 2, MINUTES + 5), st.lists(st.integers(0, MINUTES), max_size=40), st.data())
def test_minutes_that_make_room_for_older_ones_are_never_guessed(
    most: int, others: list[int], data: st.DataObject
) -> None:
    minutes = [*range(most), *others]
    rows = [Task(f"{row:03}", 3, 1, end=BASE + minute * 60_000) for row, minute in enumerate(minutes)]
    leaf = Leaf.unpack(Leaf(rows).pack())
    stored, counts = summary_of(leaf).pack(), leaf.counts()
    again = data.draw(st.lists(st.sampled_from(rows), max_size=5, unique=True))
    leaf.fold([task._replace(state=0, end=0) for task in again])
    assert summary_after(stored, counts, leaf) == summary_of(leaf)


@half_as_many()
@given(many_tasks, many_tasks, many_tasks)
def test_summaries_may_be_summed_in_any_order(one: list[Task], two: list[Task], three: list[Task]) -> None:
    first, second, third = (summary_of(Leaf(distinct(rows))) for rows in (one, two, three))
    left = Summary.summed([Summary.summed([first, second]), third])
    assert left == Summary.summed([first, Summary.summed([second, third])]) == Summary.summed([third, second, first])


@given(st.lists(st.lists(st.integers(0, 300), min_size=1), min_size=1, max_size=5))
def test_the_newest_minutes_of_all_leaves_are_kept_and_no_others(parts: list[list[int]]) -> None:
    leaves = [
        Leaf([Task(f"{part}-{row:03}", 3, 1, end=BASE + minute * 60_000) for row, minute in enumerate(minutes)])
        for part, minutes in enumerate(parts)
    ]
    numbers = Counter(BASE // 60_000 + minute for minutes in parts for minute in minutes)
    insight = Summary.summed([summary_of(leaf) for leaf in leaves]).statistics
    assert insight.completions == tuple(sorted(numbers.items())[-MINUTES:])


@given(st.lists(st.integers(0, 100) | st.integers(0, 2**40), min_size=1), st.integers(1, 100))
def test_a_quantile_is_as_close_as_it_says(values: list[int], percent: int) -> None:
    histogram = Histogram.of(values)
    true = sorted(values)[ceil(len(values) * percent / 100) - 1]
    assert abs(histogram.quantile(percent) - true) <= RELATIVE_ERROR * true
    assert (histogram.sum, histogram.count) == (sum(values), len(values))


def test_buckets_are_in_the_order_of_values_and_leave_none_out() -> None:
    buckets = [bucket_of(value) for value in range(5_000)]
    assert all(after - before in {0, 1} for before, after in pairwise(buckets))


def test_failures_beyond_the_caps_are_still_counted() -> None:
    rows = [
        Task(f"t-{row:04}", 3, 2, BASE, exit_code=row % 150, failure=("usererror", "x"), node=("p", f"n{row}"))
        for row in range(3_000)
    ]
    leaf = summary_of(Leaf(rows)).failures
    assert (len(leaf.groups), leaf.ungrouped, leaf.count) == (100, 1_000, 3_000)
    assert {(len(group.nodes), group.elsewhere) for group in leaf.groups} == {(16, 4)}
    job = Failures.summed([leaf, leaf]).capped()
    assert (len(job.groups), job.ungrouped, job.count) == (100, 2_000, 6_000)
    assert {(len(group.nodes), group.elsewhere) for group in job.groups} == {(10, 20)}


def test_a_summary_of_long_codes_loses_groups_rather_than_outgrow_its_place() -> None:
    rows = [Task(f"t-{row}", 3, 2, failure=("usererror", failure_group_id(("", ""), row) * 50)) for row in range(64)]
    summary = summary_of(Leaf(rows))
    packed = summary.pack(1_000)
    stored = Summary.unpack(packed)
    assert len(packed) <= 1_000
    assert stored
    assert len(stored.failures.groups) < 64
    assert stored.failures.count == 64


def test_a_summary_of_another_form_counts_as_none() -> None:
    form, *rest = json.loads(inflated(Summary().pack()))
    assert Summary.unpack(deflated(json.dumps([form, *rest]).encode())) == Summary()
    for other in (form - 1, form + 1):
        assert Summary.unpack(deflated(json.dumps([other, *rest]).encode())) is None


def test_a_task_that_ran_again_adds_its_run_time_and_not_its_wait() -> None:
    ten_hours = 36_000_000
    once = Task("a", 3, 1, creation=BASE, start=BASE + 5_000, end=BASE + 9_000)
    again = once._replace(id="b", start=BASE + ten_hours, end=BASE + ten_hours + 7_000)
    for rows in ([once, again._replace(retries=1)], [once, again._replace(requeues=1)]):
        insight = summary_of(Leaf(rows)).statistics
        assert insight.waits == Histogram.of([5_000])
        assert insight.runs == Histogram.of([4_000, 7_000])


def test_causes_have_keys_of_their_own() -> None:
    causes = [(("a", "b"), 1), (("a", "b"), None), (("a", ""), 1), (("", "ab"), 1), (("a", "b"), -1)]
    assert len({failure_group_id(*cause) for cause in causes}) == len(causes)
    assert failure_group_id(("usererror", "FailureExitCode"), 137) == failure_group_id(
        ("usererror", "FailureExitCode"), 137
    )
