"""The states of a node in the API: unknown times are null, and all times are in order."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from functions.api.record_models import StateAnswer, states_of
from shared.domain.nodes.node_records import NOT_SEEN, NodeRecord, Past
from shared.domain.nodes.nodes import Node
from tests.domain.support.profiles import load_profile

load_profile()
stamps = st.integers(0, 5)
nodes = st.builds(
    lambda transition, past: Node("tvm", "idle", transition=transition, record=NodeRecord(1, tuple(past))),
    stamps,
    st.lists(st.builds(Past, st.sampled_from(("running", NOT_SEEN)), stamps), max_size=6),
)


def at(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_an_end_that_is_not_known_is_told_from_a_state_that_lasts() -> None:
    node = Node("tvm", "idle", transition=5, record=NodeRecord(1, (Past("offline", 0), Past("running", 3))))
    assert list(states_of(node)) == [
        StateAnswer(state="idle", since=at(5), until=None, current=True),
        StateAnswer(state="offline", since=None, until=at(5), current=False),
        StateAnswer(state="running", since=at(3), until=None, current=False),
    ]


def test_a_state_is_told_with_its_stamp_where_the_one_after_it_has_none() -> None:
    node = Node("tvm", "idle", record=NodeRecord(1, (Past("running", 3),)))
    assert [(one.since, one.until) for one in states_of(node)] == [(None, None), (at(3), None)]


@given(nodes)
def test_no_state_begins_after_one_that_followed_it(node: Node) -> None:
    """A node's clock may go back."""
    told = list(states_of(node))
    assert [one.current for one in told] == [True] + [False] * len(node.record.past)
    assert [one.state for one in told[1:]] == [past.state or None for past in node.record.past]
    moments = [one.since for one in told if one.since]
    assert moments == sorted(moments, reverse=True)
    for later, one in itertools.pairwise(told):
        assert one.until == later.since


@given(nodes)
def test_stamps_that_are_in_order_are_told_as_they_are(node: Node) -> None:
    known = [past.since for past in node.record.past]
    ordered = sorted(known, reverse=True)
    past = tuple(one._replace(since=since) for one, since in zip(node.record.past, ordered, strict=True))
    whole = node._replace(transition=5, record=node.record._replace(past=past))
    assert [one.since for one in states_of(whole)] == [at(5), *(at(since) if since else None for since in ordered)]
