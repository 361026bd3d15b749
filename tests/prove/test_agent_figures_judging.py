"""The judge of the agent's figures: what is true passes, and each wrong figure is found."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from local.prove.agent_figures.judging import attempts_of, cpu_row, judge_task
from local.prove.agent_figures.node_judging import counter_row, judge_node, share_row
from local.prove.agent_figures.node_totals import Totals
from local.prove.agent_figures.plans import Plan
from local.prove.agent_figures.report import is_proved, section
from local.prove.agent_figures.spooled import Line, lines_of
from local.prove.agent_figures.truths import Truth, sum_of

PLAN = Plan("task", "busy", has_peak=True, has_io=True, has_threads=True)
TRUTH = Truth(cpu=50.0, start=1000.0, end=1064.0, peak=100 << 20, read=10 << 20, written=20 << 20, threads=7)
FIGURES: Mapping[str, float] = {
    "cpu_time_user": 40.0, "cpu_time_system": 10.0, "cpu_time_missed_max": 0.0, "start_time": 999.0,
    "end_time": 1071.0, "end_uncertainty": 10.0, "memory_peak": 100 << 20, "read_bytes": 10 << 20,
    "write_bytes": 20 << 20, "max_threads": 7,
}  # fmt: skip


def attempt(**changed: float) -> Line:
    tags = {"job_id": "job", "task_id": "task"}
    return Line("batchscope_task_attempt", tags, {**FIGURES, **changed}, 1071.0)


def wrong(plan: Plan = PLAN, *, is_exact: bool = True, **changed: float) -> list[str]:
    rows = judge_task("root", plan, [TRUTH], [attempt(**changed)], is_exact=is_exact)
    return [row.figure for row in rows if not row.is_right]


def test_true_figures_are_right() -> None:
    assert wrong() == []


@pytest.mark.parametrize(
    ("field", "figure", "factor"),
    [("cpu_time_user", "CPU", 1.03), ("cpu_time_user", "CPU", 0.97), ("memory_peak", "peak memory", 1.06),
     ("memory_peak", "peak memory", 0.94), ("read_bytes", "read", 1.03), ("write_bytes", "written", 0.97),
     ("max_threads", "threads", 2), ("start_time", "start", 0.98), ("end_time", "end", 1.02)],
)  # fmt: skip
def test_each_figure_outside_of_its_bar_is_wrong(field: str, figure: str, factor: float) -> None:
    rows = judge_task("root", PLAN, [TRUTH], [attempt(**{field: FIGURES[field] * factor})], is_exact=True)
    assert [row.figure for row in rows if not row.is_right] == [figure]


def test_an_end_is_not_right_by_an_interval_that_is_too_long() -> None:
    assert wrong(end_time=1090.0, end_uncertainty=30.0) == ["end"]


def test_an_attempt_that_is_missing_or_surplus_is_wrong() -> None:
    for found in ((), (attempt(), attempt())):
        (row,) = judge_task("root", PLAN, [TRUTH], found, is_exact=True)
        assert (row.figure, row.is_right) == ("attempts", False)


def test_missing_time_is_right_within_the_stated_bound_only_without_accounting() -> None:
    for counted, bound, is_exact, is_right in (
        (45.0, 6.0, False, True),
        (45.0, 4.0, False, False),
        (45.0, 6.0, True, False),
        (55.0, 6.0, False, False),
    ):
        found = {"cpu_time_user": counted, "cpu_time_system": 0.0, "cpu_time_missed_max": bound}
        assert cpu_row("agent", "task", TRUTH, found, is_exact=is_exact).is_right is is_right


def test_figures_after_the_last_sample_may_be_too_small_without_accounting_but_never_too_large() -> None:
    late = replace(PLAN, is_late=True)
    assert wrong(late, is_exact=False, memory_peak=1 << 20, read_bytes=0) == []
    assert wrong(late, is_exact=True, memory_peak=1 << 20) == ["peak memory"]
    assert wrong(late, is_exact=False, memory_peak=110 << 20) == ["peak memory"]


def test_attempts_are_read_from_line_protocol_in_the_order_of_their_starts() -> None:
    text = (
        "batchscope_task_attempt,job_id=job,task_attempt=9,task_id=a start_time=9i,duration=1.5 9000000000\n"
        "batchscope_task_attempt,job_id=job,task_attempt=5,task_id=a start_time=5i 9000000000\n"
        'batchscope_agent,x=a\\ b note="one, two=3",up=true,n=18446744073709551615u 1500000000\n'
        "batchscope_task_attempt,job_id=other,task_id=a start_time=1i 9000000000\n"
    )
    lines = list(lines_of([text]))
    assert lines[2] == Line("batchscope_agent", {"x": "a b"}, {"n": 18446744073709551615.0}, 1.5)
    assert [line.numbers["start_time"] for line in attempts_of(lines, "job")["a"]] == [5.0, 9.0]
    with pytest.raises(ValueError, match="not a line"):
        list(lines_of(["nonsense"]))


def test_the_truth_is_the_sum_of_all_processes() -> None:
    one = '{"cpu": 1.5, "start": 5, "end": 9, "peak": 7, "read": 1, "written": 2, "threads": 1}\n'
    other = '{"cpu": 0.5, "start": 6, "end": 10, "peak": 9, "read": 3, "written": 4, "threads": 2}\n'
    assert sum_of(one + other) == Truth(2.0, 5, 10, 9, 4, 6, 2)


def test_shares_must_be_right_by_points_and_relatively() -> None:
    assert share_row("agent", "CPU", 0.9, 0.905).is_right
    assert not share_row("agent", "CPU", 0.9, 0.911).is_right
    assert not share_row("agent", "CPU", 0.1, 0.105).is_right


def test_counters_may_differ_by_two_percent_or_a_mebibyte() -> None:
    assert counter_row("agent", "vda", 0, 1 << 20).is_right
    assert counter_row("agent", "vda", 1 << 30, 1.01 * (1 << 30)).is_right
    assert not counter_row("agent", "vda", 1 << 30, 1.03 * (1 << 30)).is_right


def test_too_few_samples_of_the_node_are_no_proof() -> None:
    totals = Totals()
    for moment in (0.0, 100.0):
        totals.add(moment, {"used space": 1.0})
    (row,) = [row for row in judge_node("agent", [], totals) if row.figure == "CPU"]
    assert row.is_right is False


def test_a_wrong_figure_fails_the_proof_and_is_named() -> None:
    right = list(judge_task("root", PLAN, [TRUTH], [attempt()], is_exact=True))
    bad = list(judge_task("root", PLAN, [TRUTH], [attempt(cpu_time_user=41.5)], is_exact=True))
    assert is_proved(right)
    assert not is_proved(bad)
    assert not is_proved([])
    assert "| WRONG |" in section(bad, "head")
    assert "**1 figures are wrong.**" in section(bad, "head")
