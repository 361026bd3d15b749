"""The comparison of starts with a queue finds each kind of difference."""

from typing import Any

import pytest

from tests.functions.pools.foretold import violations


def job(name: str, rank: int | None, ready: int | None = 2, slots: int = 1) -> dict[str, Any]:
    held = None if ready is None else 0
    return {"id": name, "rank": rank, "readyTasks": ready, "heldTasks": held, "leastSlots": slots, "mostSlots": slots}


QUEUE = {"value": [job("high", 1), job("a", 2), job("b", 2, 3), job("low", 3), job("off", None, 0)]}


@pytest.mark.parametrize(
    ("started", "wrong"),
    [
        ("high high a b a b b low", 0),
        ("high high b a b a b low", 0),
        ("high", 0),
        ("a high", 1),
        ("high high a a b b b", 1),
        ("high high a b a b low", 1),
        ("high high high", 1),
        ("off", 1),
        ("high high a b low a", 2),
    ],
)
def test_starts_out_of_order_are_found(started: str, wrong: int) -> None:
    assert len(violations(QUEUE, started.split())) == wrong


@pytest.mark.parametrize(("started", "wrong"), [("deps a", 0), ("a deps", 0), ("a a deps deps deps", 0), ("a a a", 1)])
def test_a_job_with_an_unknown_number_of_ready_tasks_may_start_any_or_none(started: str, wrong: int) -> None:
    assert len(violations({"value": [job("deps", 1, None), job("a", 2)]}, started.split())) == wrong


@pytest.mark.parametrize(
    ("held", "still", "wrong"),
    [(3, (3, 0), 0), (3, (3, 2), 0), (3, (3, 3), 1), (3, (), 0), (1, (1, 0), 0), (0, (0, 0), 1), (0, (), 1)],
)
def test_beyond_the_ready_tasks_only_those_may_start_that_are_held_no_longer(
    held: int, still: tuple[int, ...], wrong: int
) -> None:
    deps = {"value": [job("deps", 1, 1) | {"heldTasks": held}]}
    assert len(violations(deps, ["deps", "deps"], held=[{"deps": number} for number in still])) == wrong


def test_no_more_tasks_may_start_than_are_ready_or_held() -> None:
    assert len(violations({"value": [job("deps", 1, 1) | {"heldTasks": 1}]}, ["deps"] * 4)) == 2


@pytest.mark.parametrize(("slots", "wrong"), [(2, 0), (1, 1)])
def test_only_narrower_tasks_may_pass(slots: int, wrong: int) -> None:
    assert len(violations({"value": [job("first", 1, 1, slots), job("next", 2)]}, ["next"])) == wrong


@pytest.mark.parametrize(("passed", "wrong"), [({"first"}, 0), ({"other"}, 1), (set(), 1)])
def test_tasks_of_several_widths_may_be_passed_where_the_waiting_ones_are_wider(passed: set[str], wrong: int) -> None:
    both = job("first", 1, 1) | {"mostSlots": 2}
    assert len(violations({"value": [both, job("next", 2)]}, ["next"], passing=[passed])) == wrong


BOUND = job("bound", 1, 0) | {"maxParallelTasks": 2, "waitingTasks": 2}
UNBOUND = [
    job(name, rank) | {"maxParallelTasks": None, "waitingTasks": 2} for name, rank in (("beside", 1), ("low", 2))
]


@pytest.mark.parametrize(
    ("started", "wrong"),
    [
        ("bound/1 bound/1 low/2", 0),
        ("low/2 low/2", 0),
        ("low/2 bound/1", 0),
        ("low/1", 1),
        ("bound/1 low/1", 1),
        ("bound/2", 1),
        ("bound/1 bound/1 bound/1", 1),
    ],
)
def test_a_job_at_its_bound_starts_tasks_only_where_its_own_end_and_then_goes_first(started: str, wrong: int) -> None:
    starts = [each.split("/") for each in started.split()]
    running = [{"bound": int(runs), "low": 1} for _, runs in starts]
    assert len(violations({"value": [BOUND, UNBOUND[1]]}, [name for name, _ in starts], running)) == wrong


def test_others_of_its_rank_need_not_wait_for_a_job_at_its_bound() -> None:
    running = [{"bound": 1, "beside": 1}] * 2
    assert violations({"value": [BOUND, UNBOUND[0]]}, ["beside", "beside"], running) == []
