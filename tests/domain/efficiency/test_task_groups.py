"""Groups of measured runs, and their sums over rows."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.efficiency.distributions import Distribution, Measured
from shared.domain.efficiency.task_groups import (
    MAX_PREFIXES,
    GroupKey,
    by_vm_size,
    groups_of,
    groups_of_plain,
    plain_groups,
    prefix_of,
    summed_groups,
)
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import HOUR, run, runs


@given(st.lists(st.lists(runs, max_size=5), max_size=5), st.randoms(use_true_random=False))
def test_groups_of_parts_add_up_to_those_of_all_runs_in_any_order(
    parts: Sequence[Sequence[MeasuredAttempt]], random: object
) -> None:
    whole = [one for part in parts for one in part]
    summed = summed_groups(groups_of(part) for part in reversed(parts))
    assert summed == groups_of(whole)
    assert groups_of_plain(plain_groups(summed)) == summed


@given(st.lists(runs, min_size=1))
def test_a_distribution_counts_sums_and_bounds_its_values(some: Sequence[MeasuredAttempt]) -> None:
    values = Distribution.of(Measured(one.duration, one.task, 7) for one in some)
    known = [one.duration for one in some]
    assert (values.count, values.values.sum) == (len(known), sum(known))
    assert (values.lowest.value, values.highest.value) == (min(known), max(known))
    assert (values.used, values.time) == (7 * sum(known), 7 * len(known))
    for percent in (50, 95, 100):
        exact = sorted(known)[-(-len(known) * percent // 100) - 1]
        assert abs(values.quantile(percent) - exact) <= exact / 16 + 1
        assert min(known) <= values.quantile(percent) <= max(known)


def test_figures_are_rates_over_the_run_and_none_where_the_agent_wrote_none() -> None:
    one = run(1, cores=2.5)._replace(disk_bytes=3600 * 7, memory_peak=None)
    (group,) = groups_of([one]).values()
    found = {figure: values.lowest for figure, values in group.figures.items()}
    assert found == {
        "duration": (HOUR, "task-0001"), "cores": (2500, "task-0001"), "diskRate": (7, "task-0001"),
        "threads": (1, "task-0001"),
    }  # fmt: skip
    (short,) = groups_of([one._replace(duration=0)]).values()
    assert short.figures.keys() == {"duration", "threads"}


def test_groups_are_prefixes_up_to_the_first_digit() -> None:
    assert [prefix_of(task) for task in ("frame-0001", "0001", "case_b_12_x", "merge", "")] == [
        "frame-", "", "case_b_", "merge", "",
    ]  # fmt: skip


def test_many_prefixes_are_dropped_wherever_they_are() -> None:
    many = [run(1)._replace(task=f"{chr(97 + number)}1") for number in range(MAX_PREFIXES + 1)]
    few = groups_of(many[:MAX_PREFIXES])
    assert {key.prefix for key in few} == {chr(97 + number) for number in range(MAX_PREFIXES)}
    dropped = GroupKey(None, "standard_d4s_v5")
    assert groups_of(many).keys() == {dropped}
    assert summed_groups([few, groups_of(many[MAX_PREFIXES:])]) == groups_of(many)
    assert summed_groups([groups_of(many), few])[dropped].runs == 2 * MAX_PREFIXES + 1


def test_groups_of_a_size_are_one_by_size() -> None:
    groups = groups_of([run(1), run(2)._replace(task="other"), run(3)._replace(vm_size="standard_e4s_v5")])
    assert {size: group.runs for size, group in by_vm_size(groups).items()} == {
        "standard_d4s_v5": 2, "standard_e4s_v5": 1,
    }  # fmt: skip


def test_of_equal_ends_the_first_task_stands() -> None:
    values = Distribution.of(Measured(value, task, 1) for value, task in [(5, "b"), (5, "a"), (3, "d"), (3, "c")])
    assert (values.lowest, values.highest) == ((3, "c"), (5, "a"))
