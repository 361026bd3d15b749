"""Nodes: merged lists, numbers, causes in words."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.node_causes import cause_of, last_seen
from shared.domain.nodes.node_records import NO_RECORD, NodeRecord
from shared.domain.nodes.nodes import Node, NodeError, RecentTask, StartRun, by_state, merged, summary_of
from tests.profiles import half_as_many

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SINCE = to_milliseconds(NOW - timedelta(minutes=7))

nodes = st.builds(
    Node,
    id=st.sampled_from(["tvm-1", "TVM-2", "tvm-3", "tvm-4"]),
    state=st.sampled_from(["idle", "running", "starttaskfailed", "preempted"]),
    dedicated=st.booleans(),
    transition=st.integers(0, 9),
    scheduling=st.sampled_from(["enabled", "disabled"]),
    tasks=st.integers(0, 4),
    slots=st.integers(0, 4),
    recent=st.sampled_from([(), (RecentTask("job", "task", "running"),)]),
    recent_at=st.sampled_from([0, 5, 6]),
    record=st.just(NO_RECORD),
    agent=st.sampled_from(["", "1.1", "1.2"]),
)
kept = st.lists(nodes, max_size=4).map(lambda found: {node.key: node for node in found})


@half_as_many()
@given(kept, st.lists(nodes, max_size=6))
def test_a_whole_list_leaves_its_own_nodes_only(before: dict[str, Node], listed: list[Node]) -> None:
    assert merged(before, listed, whole=True, at=2, known_as_of=1).keys() == {node.key for node in listed}


@half_as_many()
@given(kept, st.lists(nodes, max_size=6))
def test_a_list_of_changes_takes_nothing_away(before: dict[str, Node], listed: list[Node]) -> None:
    after = merged(before, listed, whole=False, at=2, known_as_of=1)
    assert after.keys() == before.keys() | {node.key for node in listed}
    unlisted = before.keys() - {node.key for node in listed}
    assert all(after[key] is before[key] for key in unlisted)


@half_as_many()
@given(before=kept, listed=st.lists(nodes, max_size=6), whole=st.booleans())
def test_the_later_word_on_a_node_counts_but_for_recent_tasks_and_agents_that_were_not_asked_for(
    *, before: dict[str, Node], listed: list[Node], whole: bool
) -> None:
    for key, node in merged(before, listed, whole=whole, at=2, known_as_of=1).items():
        words = [one for one in listed if one.key == key]
        if words:
            stripped = node._replace(recent=(), recent_at=0, record=NO_RECORD, agent="")
            assert stripped == words[-1]._replace(recent=(), recent_at=0, agent="")
            earlier = [before[key]] if key in before else []
            source = next((word for word in reversed(earlier + words) if word.recent_at), (earlier + words)[0])
            assert node.agent == next((word.agent for word in reversed(earlier + words) if word.agent), "")
            assert node.recent == source.recent


@given(kept)
def test_a_list_without_news_changes_nothing(before: dict[str, Node]) -> None:
    before = {key: node._replace(record=NodeRecord(since=1)) for key, node in before.items()}
    again = [node._replace(recent_at=9, record=NO_RECORD) for node in before.values()]
    assert merged(before, again, whole=True, at=2, known_as_of=1) == before


@half_as_many()
@given(st.lists(nodes, max_size=8), st.integers(1, 4))
def test_numbers_are_those_of_the_nodes(found: list[Node], slots: int) -> None:
    summary = summary_of(found, slots)
    assert by_state(summary.counts) == dict(sorted(Counter(node.state for node in found).items()))
    assert sum(number for _, dedicated, number in summary.counts if dedicated) == sum(n.dedicated for n in found)
    assert (summary.total, summary.slots) == (len(found), len(found) * slots)
    assert summary.used == sum(node.slots for node in found)
    assert 0 <= summary.free <= summary.slots
    assert summary.is_settled == all(
        node.state in ("idle", "offline") and not node.slots and not node.tasks for node in found
    )


def test_nodes_that_get_no_tasks_have_no_free_slots() -> None:
    found = [
        Node("a", "idle"),
        Node("b", "idle", scheduling="disabled"),
        Node("c", "running", slots=3, tasks=2),
        Node("d", "unusable"),
    ]
    assert summary_of(found, 4).free == 5


def test_nodes_are_counted_by_the_version_of_their_agent_the_oldest_first() -> None:
    versions = ["1.10.0", "1.9.2", "", "1.10.0", "1.10", "1.10.0-rc", "beta"]
    found = [Node(f"n{number}", "idle", agent=version) for number, version in enumerate(versions)]
    assert summary_of(found, 1).agents == (("beta", 1), ("1.9.2", 1), ("1.10", 1), ("1.10.0", 2), ("1.10.0-rc", 1))
    assert summary_of(iter(found), 1).total == len(found)
    assert summary_of([], 1).agents == ()


def test_a_new_version_of_the_agent_alone_is_news() -> None:
    before = Node("n", "idle", recent=(RecentTask("j", "t", "running"),), recent_at=5, agent="1.1")
    listed = Node("n", "idle", agent="1.2")
    after = listed.after(before, known_as_of=1, at=2)
    assert (after.agent, after.recent, after.record) == ("1.2", before.recent, before.record)
    for same in ("1.1", ""):
        assert listed._replace(agent=same).after(before, known_as_of=1, at=2) is before
    busy = Node("n", "running", slots=1).after(before, known_as_of=1, at=2)
    assert (busy.state, busy.agent) == ("running", "1.1")


START = StartRun("completed", "failure", 127, SINCE, SINCE, 2, "usererror", "FailureExitCode", "It ended with 127.")
CAUSES = {
    "start task failed": (
        Node("n", "starttaskfailed", start=START),
        "The start task failed with exit code 127 after 2 retries: FailureExitCode: It ended with 127.",
    ),
    "start task failed, unsaid how": (Node("n", "starttaskfailed"), "The start task failed."),
    "one retry": (
        Node("n", "starttaskfailed", start=StartRun("completed", exit_code=1, retries=1)),
        "The start task failed with exit code 1 after 1 retry.",
    ),
    "not launched": (
        Node("n", "starttaskfailed", start=StartRun("completed", code="CommandProgramNotFound")),
        "The start task failed: CommandProgramNotFound.",
    ),
    "failed and not waited for": (
        Node("n", "idle", start=StartRun("completed", "failure", 3)),
        "The start task failed with exit code 3. The pool doesn't wait for it to succeed.",
    ),
    "disk full": (
        Node("n", "unusable", errors=(NodeError("DiskFull", "There is not enough disk space."),)),
        "The node's disk is full (DiskFull: There is not enough disk space).",
    ),
    "unusable with errors": (
        Node("n", "unusable", errors=(NodeError("ApplicationPackageError", "No."), NodeError("Second", ""))),
        "The node is unusable: ApplicationPackageError: No; Second.",
    ),
    "unusable without": (Node("n", "unusable"), "can't reach it"),
    "waiting": (Node("n", "waitingforstarttask", start=StartRun("running", start=SINCE)), "since 2026-11-21 11:53:00"),
    "waiting while it is tried again": (
        Node("n", "waitingforstarttask", start=StartRun("running", "failure", start=SINCE, retries=57)),
        "The start task failed. It is being tried again (57 retries so far).",
    ),
    "waiting while it is tried again, said why": (
        Node("n", "waitingforstarttask", start=START._replace(state="running", message="127.", retries=1)),
        "The start task failed with exit code 127: FailureExitCode: 127. It is being tried again (1 retry so far).",
    ),
    "waiting though it succeeded at the second try": (
        Node("n", "waitingforstarttask", start=StartRun("completed", "success", 0, SINCE, SINCE, 1)),
        "since 2026-11-21 11:53:00",
    ),
    "waiting while it is about to be tried again": (
        Node("n", "waitingforstarttask", start=StartRun("completed", "failure", 3)),
        "The start task failed with exit code 3. It is being tried again.",
    ),
    "waiting, unsaid since when": (Node("n", "waitingforstarttask"), "The node waits for its start task."),
    "preempted": (Node("n", "preempted", dedicated=False), "was preempted"),
    "leaving": (Node("n", "leavingpool"), "leaving the pool"),
    "unknown": (Node("n", "unknown"), "lost contact"),
    "offline": (Node("n", "offline", scheduling="disabled"), "Scheduling is switched off"),
    "errors of a working node": (Node("n", "running", errors=(NodeError("Odd", "Hm."),)), "reports errors: Odd: Hm."),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_of_a_state_is_a_sentence(case: str) -> None:
    node, words = CAUSES[case]
    cause = cause_of(node)
    assert cause
    assert words in cause
    assert cause.endswith(".")
    assert not cause.endswith("..")


@pytest.mark.parametrize("state", ["idle", "running"])
def test_a_node_that_works_needs_no_cause(state: str) -> None:
    assert cause_of(Node("n", state, start=StartRun("completed", "success", 0))) is None


@pytest.mark.parametrize(
    "state",
    [
        "idle", "rebooting", "reimaging", "running", "unusable", "creating", "starting", "waitingforstarttask",
        "starttaskfailed", "unknown", "leavingpool", "offline", "preempted", "upgradingos", "deallocated",
        "deallocating", "a state of tomorrow",
    ],
)  # fmt: skip
def test_every_state_but_those_of_nodes_at_work_has_a_cause(state: str) -> None:
    listed = cause_of(Node("n", state))
    assert (listed is None) == (state in ("idle", "running", "a state of tomorrow"))


@pytest.mark.parametrize(
    "state",
    [
        "unknown", "unusable", "preempted", "deallocated",
        "starting", "rebooting", "reimaging", "upgradingos", "deallocating",
    ],
)  # fmt: skip
def test_a_node_was_last_seen_when_the_service_lost_it_or_its_agent_stopped(state: str) -> None:
    assert last_seen(Node("n", state, transition=SINCE), NOW) == NOW - timedelta(minutes=7)
    assert last_seen(Node("n", state, transition=to_milliseconds(NOW) + 900), NOW) == NOW
    assert last_seen(Node("n", state), NOW) is None


def test_a_node_that_is_being_created_was_never_seen() -> None:
    assert last_seen(Node("n", "creating", transition=SINCE), NOW) is None


@pytest.mark.parametrize("state", ["idle", "waitingforstarttask", "starttaskfailed", "leavingpool"])
def test_a_node_that_is_there_was_last_seen_when_it_was_listed(state: str) -> None:
    assert last_seen(Node("n", state, transition=SINCE), NOW) == NOW


def test_an_unusable_node_with_errors_is_seen() -> None:
    assert last_seen(Node("n", "unusable", transition=SINCE, errors=(NodeError("Odd", "Hm."),)), NOW) == NOW
