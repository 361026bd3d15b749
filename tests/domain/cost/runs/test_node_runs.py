"""A run without a known end is over when its node would have more than its slots, at the latest at its bound."""

from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.busy_nodes import Outcome
from shared.domain.cost.runs.known_nodes import KnownNodes
from shared.domain.cost.runs.node_runs import NodeRuns
from shared.domain.nodes import nodes as batch
from shared.domain.nodes.node_records import EarlierState, NodeRecord
from shared.domain.timeline.timeline import Node, Run

_A, _B = ("p", "a"), ("p", "b")


def _run(start: int, end: int | None, slots: int = 1, node: Node = _A) -> Run:
    return Run(start * 1000, "t", None if end is None else end * 1000, 0, slots, node)


def _retried(*runs: tuple[Run, Outcome], slots: int = 4) -> list[tuple[str, Run]]:
    nodes = NodeRuns(lambda pool: KnownNodes(slots if pool == "p" else 0, {}))
    for number, (run, outcome) in enumerate(runs):
        nodes.add(str(number), run, outcome, is_bounded=outcome == "retried")
    return sorted((job, run) for job, run, _, _ in chain.from_iterable(nodes.bounded()))


@pytest.mark.parametrize(
    ("others", "end"),
    [
        ([], 900),
        ([_run(200, 300)], 900),
        ([_run(200, 300), _run(250, 400)], 900),
        ([_run(200, 300, 3)], 200),
        ([_run(50, None), _run(300, 310)], 900),
        ([_run(50, None), _run(300, 310), _run(305, 310)], 305),
        ([_run(50, 300, 2), _run(299, 310, 2)], 900),
        ([_run(50, 300, 2), _run(297, 310)], 297),
        ([_run(200, 300, 3, _B)], 900),
        ([_run(900, 950, 3)], 900),
        ([_run(20, 90, 4)], 900),
    ],
)
def test_a_retried_run_was_over_when_others_took_its_slots(others: list[Run], end: int) -> None:
    run = _run(100, 900, 2)
    found = _retried((run, "retried"), *((one, "succeeded") for one in others))
    assert found == [("0", run._replace(end=end * 1000))]


def test_of_several_retried_runs_the_one_whose_task_ran_again_first_was_over() -> None:
    early, late, other = _run(100, 700), _run(110, 800), _run(200, 300)
    runs: list[tuple[Run, Outcome]] = [(late, "retried"), (early, "retried"), (other, "failed")]
    assert _retried(*runs, slots=2) == [("0", late), ("1", early._replace(end=200_000))]
    assert _retried(*runs, (_run(250, 260), "running"), slots=2) == [
        ("0", late._replace(end=250_000)),
        ("1", early._replace(end=200_000)),
    ]


def test_nothing_is_over_earlier_on_nodes_whose_slots_are_unknown() -> None:
    run = _run(100, 900, node=("q", "a"))
    nodes = NodeRuns(lambda _: None)
    for number in range(9):
        nodes.add(str(number), run, "retried", is_bounded=True)
    assert {end.end for _, end, _, _ in chain.from_iterable(nodes.bounded())} == {900_000}


def test_a_retried_run_was_over_when_its_node_was_idle() -> None:
    past = tuple(EarlierState(state, 1000 * since) for state, since in (("running", 500), ("idle", 300), ("idle", 99)))
    node = batch.Node("A", "idle", transition=600_000, record=NodeRecord(1, past))
    nodes = NodeRuns(lambda _: KnownNodes(4, {"a": node}))
    for start in (100, 310, 700):
        nodes.add("j", _run(start, 900), "retried", is_bounded=True)
    assert [(run.start, run.end) for _, run, _, _ in chain.from_iterable(nodes.bounded())] == [
        (100_000, 300_000), (310_000, 600_000), (700_000, 900_000),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60), st.integers(1, 2), st.booleans()), max_size=12))
def test_retried_runs_alone_never_hold_more_than_the_slots_of_their_node(
    given_runs: list[tuple[int, int, int, bool]],
) -> None:
    runs: list[tuple[Run, Outcome]] = [
        (_run(start, start + length, slots, _A if is_first else _B), "retried")
        for start, length, slots, is_first in given_runs
    ]
    found = _retried(*runs, slots=2)
    assert len(found) == len(runs)
    held = Counter[tuple[Node, int]]()
    for name, run in found:
        before = runs[int(name)][0]
        assert run == before._replace(end=run.end)
        assert run.end is not None
        assert before.end is not None
        assert run.end <= before.end
        for second in range(run.start // 1000, run.end // 1000):
            held[run.node, second] += run.slots
    assert max(held.values(), default=0) <= 2
