"""The allocation of node time: its parts add up, and each gets what it should."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.allocation import OUTCOMES, NodeTime, Overhead, allocated, amount
from shared.domain.cost.busy_nodes import Outcome

_TIME = st.integers(0, 10**9)
_OVERHEAD = st.sampled_from(("starting", "startTask", "startTaskFailed", "unusable", "unknown", "offline", "leaving"))


@given(
    st.builds(NodeTime, _TIME, _TIME, _TIME, _TIME),
    st.dictionaries(_OVERHEAD, _TIME),
    st.dictionaries(st.sampled_from(OUTCOMES), st.integers(0, 10**11)),
    _TIME,
    st.integers(1, 256),
)
def test_the_parts_are_positive_and_add_up_to_the_time_of_the_nodes(
    nodes: NodeTime, overhead: dict[Overhead, int], tasks: dict[Outcome, int], busy: int, slots: int
) -> None:
    parts = allocated(nodes, overhead, tasks, busy=busy, slots_per_node=slots)
    assert all(units > 0 for units in parts.values())
    whole = nodes.able + nodes.unwatched + sum(overhead.values())
    assert sum(parts.values()) == whole * slots
    assert sum(parts.get(one, 0) for one in OUTCOMES) <= sum(tasks.values())


def test_a_node_that_runs_a_task_on_one_of_four_slots_is_three_quarters_idle_slots() -> None:
    parts = allocated(NodeTime(running=60, idle=40), {}, {"succeeded": 60}, busy=60, slots_per_node=4)
    assert parts == {"succeeded": 60, "idleSlots": 180, "idle": 160}


def test_time_that_both_polls_may_have_missed_is_busy_as_far_as_tasks_ran() -> None:
    parts = allocated(NodeTime(idle=10, ready=90), {}, {"failed": 30}, busy=30, slots_per_node=1)
    assert parts == {"failed": 30, "idle": 70}


def test_a_node_seen_running_without_a_known_task_is_unattributed_and_never_idle() -> None:
    parts = allocated(NodeTime(running=100, idle=50), {"starting": 20}, {"running": 30}, busy=30, slots_per_node=2)
    assert parts == {"running": 30, "idleSlots": 30, "unattributed": 140, "idle": 100, "starting": 40}


def test_tasks_that_ran_while_nobody_polled_take_from_unwatched_time() -> None:
    parts = allocated(NodeTime(idle=10, unwatched=100), {}, {"succeeded": 40}, busy=40, slots_per_node=1)
    assert parts == {"succeeded": 40, "unwatched": 70}


def test_tasks_whose_stamps_exceed_the_nodes_time_share_it_in_proportion() -> None:
    parts = allocated(NodeTime(running=60), {}, {"succeeded": 90, "failed": 30}, busy=120, slots_per_node=1)
    assert parts == {"succeeded": 45, "failed": 15}


def test_amounts_are_decimals_whose_sum_is_that_of_the_whole_to_a_millionth_of_a_cent() -> None:
    hourly = Decimal("0.0731")
    parts = allocated(NodeTime(1000, 777, 1), {"leaving": 333}, {"failed": 999}, busy=1000, slots_per_node=7)
    whole = amount(2111 * 7, slots_per_node=7, hourly=hourly)
    amounts = [amount(units, slots_per_node=7, hourly=hourly) for units in parts.values()]
    assert abs(sum(amounts) - whole) < Decimal("1e-8")
