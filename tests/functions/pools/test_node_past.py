"""The states of a node in the API: unknown times are null, and all times are in order."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from functions.api.pools.node_models import StateAnswer, states_of
from shared.domain.nodes.node_records import NOT_SEEN, EarlierState, NodeRecord
from shared.domain.nodes.nodes import Node

stamps = st.integers(0, 5)
nodes = st.builds(
    lambda transition, past: Node("tvm", "idle", transition=transition, record=NodeRecord(1, tuple(past))),
    stamps,
    st.lists(st.builds(EarlierState, st.sampled_from(("running", NOT_SEEN)), stamps), max_size=6),
)


def at(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_an_unknown_end_is_distinguished_from_a_lasting_state() -> None:
    node = Node(
        "tvm", "idle", transition=5, record=NodeRecord(1, (EarlierState("offline", 0), EarlierState("running", 3)))
    )
    assert list(states_of(node)) == [
        StateAnswer(state="idle", since=at(5), until=None, current=True),
        StateAnswer(state="offline", since=None, until=at(5), current=False),
        StateAnswer(state="running", since=at(3), until=None, current=False),
    ]


def test_a_state_keeps_its_start_if_the_next_one_has_none() -> None:
    node = Node("tvm", "idle", record=NodeRecord(1, (EarlierState("running", 3),)))
    assert [(one.since, one.until) for one in states_of(node)] == [(None, None), (at(3), None)]


@given(nodes)
def test_no_state_begins_after_one_that_followed_it(node: Node) -> None:
    """A node's clock may go back."""
    states = list(states_of(node))
    assert [one.current for one in states] == [True] + [False] * len(node.record.past)
    assert [one.state for one in states[1:]] == [past.state or None for past in node.record.past]
    moments = [one.since for one in states if one.since]
    assert moments == sorted(moments, reverse=True)
    for later, one in itertools.pairwise(states):
        assert one.until == later.since


@given(nodes)
def test_ordered_stamps_are_shown_unchanged(node: Node) -> None:
    known = [past.since for past in node.record.past]
    ordered = sorted(known, reverse=True)
    past = tuple(one._replace(since=since) for one, since in zip(node.record.past, ordered, strict=True))
    whole = node._replace(transition=5, record=node.record._replace(past=past))
    assert [one.since for one in states_of(whole)] == [at(5), *(at(since) if since else None for since in ordered)]
