"""Records of nodes: never more than the truth, missed states where stamps show them, and counts."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.nodes.interruptions import DAY, HOUR, NONE, InterruptionCount, Interruptions
from shared.domain.nodes.node_records import (
    FLAPS,
    MAX_FALLS,
    MAX_PAST,
    NOT_SEEN,
    EarlierState,
    NodeRecord,
    NodeVersion,
    first_record,
    followed,
    was_missed,
)
from shared.domain.nodes.nodes import Node, flapping_of, merged, tallied

START = 1_795_244_400_000  # milliseconds since 1970, a whole minute
SECOND, MINUTE = 1000, 60_000
UP = ("idle", "running", "offline")
BAD = ("unusable", "unknown", "starttaskfailed", "rebooting", "reimaging")
STATES = (*UP, *BAD, "preempted", "starting")


class Life:
    """A node's true life: its states with their stamps, its boots, and the polls' record of it."""

    def __init__(self) -> None:
        self.now, self.booted = START, START - MINUTE
        self.states = [("idle", START)]
        self.known: dict[str, Node] = {}
        self.known_as_of: int | None = None
        self.tally = InterruptionCount(START)
        self.seen: list[int] = []  # places in `states`, the latest at each poll
        self.poll()

    def change(self, state: str, *, boots: bool) -> None:
        self.now += SECOND
        if state != self.states[-1][0]:
            self.states.append((state, self.now))
        if boots:
            self.booted = self.now

    def poll(self) -> None:
        self.now += SECOND
        state, since = self.states[-1]
        node = Node("tvm", state, dedicated=False, transition=since, booted=self.booted)
        after = merged(self.known, [node], whole=True, at=self.now, known_as_of=self.known_as_of)
        self.tally = tallied(self.tally, self.known, after)
        self.known, self.known_as_of = after, self.now
        self.seen.append(len(self.states) - 1)

    @property
    def record(self) -> NodeRecord:
        return self.known["tvm"].record


lives = st.lists(
    st.one_of(st.tuples(st.just("change"), st.sampled_from(STATES), st.booleans()), st.just(("poll", "", False))),
    max_size=60,
)


def lived(story: list[tuple[str, str, bool]]) -> Life:
    life = Life()
    for kind, state, boots in story:
        if kind == "poll":
            life.poll()
        else:
            life.change(state, boots=boots)
    return life


@given(lives)
def test_every_recorded_state_was_seen_and_has_its_duration(story: list[tuple[str, str, bool]]) -> None:
    life = lived(story)
    recorded = [past for past in life.record.past if past.state != NOT_SEEN]
    seen = [life.states[place] for place in dict.fromkeys(life.seen)][:-1]
    assert recorded == [EarlierState(*state) for state in reversed(seen)][: len(recorded)]
    assert len(life.record.past) <= MAX_PAST
    assert len(recorded) == len(seen) or len(life.record.past) == MAX_PAST
    sinces = [past.since for past in life.record.past]
    assert sinces == sorted(sinces, reverse=True)


@given(lives)
def test_states_are_recorded_as_missed_only_if_some_were_and_always_if_one_came_back(
    story: list[tuple[str, str, bool]],
) -> None:
    life = lived([step if step[0] == "poll" else (step[0], step[1], False) for step in story])
    places = list(dict.fromkeys(life.seen))
    expected = []
    for before, after in itertools.pairwise(places):
        if life.states[before][0] == life.states[after][0]:
            assert after - before > 1
            expected.append(life.states[after][1])
    recorded = [life.states[life.seen[-1]], *((past.state, past.since) for past in life.record.past)]
    missed = [later[1] for later, past in itertools.pairwise(recorded) if past[0] == NOT_SEEN]
    assert missed == list(reversed(expected))[: len(missed)]
    assert len(missed) == len(expected) or len(life.record.past) == MAX_PAST
    assert life.record.is_whole == (not expected and len(life.record.past) < MAX_PAST)


@given(lives)
def test_interruptions_are_those_that_polls_saw_and_the_pools_tally_is_their_sum(
    story: list[tuple[str, str, bool]],
) -> None:
    life = lived(story)
    seen = {life.states[place] for place in life.seen if life.states[place][0] == "preempted"}
    found = life.record.interruptions
    assert found.total == len(seen)
    assert found.latest == max((since for _, since in seen), default=0)
    assert (life.tally.interruptions.total, life.tally.interruptions.unexplained) == (found.total, found.unexplained)
    assert life.tally.interruptions.recent == found.recent


@given(lives)
def test_an_unexplained_restart_is_a_boot_of_a_node_that_was_last_seen_up(story: list[tuple[str, str, bool]]) -> None:
    life = Life()
    expected = 0
    for kind, state, boots in story:
        if kind == "poll":
            before = life.known["tvm"]
            life.poll()
            now = life.known["tvm"]
            again = before.state == now.state == "starting" and before.transition != now.transition
            was_up = before.state in (*UP, "starttaskfailed") or again
            is_down = now.state not in (*UP, "starttaskfailed", "starting")  # a boot after it went down belongs to that
            expected += now.booted > before.booted and was_up and not (is_down and now.booted > now.transition)
        else:
            life.change(state, boots=boots)
    assert life.record.interruptions.unexplained == expected


@given(st.lists(st.integers(0, 200).map(lambda minutes: minutes * MINUTE // 4), max_size=40), st.integers(0, 100))
def test_flaps_are_the_falls_of_the_last_hour(moments: list[int], later: int) -> None:
    record, now = NodeRecord(START), START
    for moment in sorted(moments):
        record, now = record.fell(START + moment), START + moment
    now += later * MINUTE + 1
    expected = [at for at in moments if START + at >= (now - 60 * MINUTE) // MINUTE * MINUTE]
    assert record.flaps(now) == min(len(expected), MAX_FALLS)
    assert (record.flaps(now) >= FLAPS) == (record.flaps_until > now)
    nodes = [Node("a", "idle", record=record), Node("b", "idle")]
    assert sum(number for until, number in flapping_of(nodes) if until > now) == (record.flaps(now) >= FLAPS)


@given(st.lists(st.integers(0, 3 * 86_400).map(lambda second: second * SECOND), max_size=60), st.integers(0, 86_400))
def test_interruptions_of_a_window_are_those_of_its_whole_spans(moments: list[int], later: int) -> None:
    found = NONE
    for moment in moments:
        found = found.interrupted(START + moment)
    now = START + max(moments, default=0) + later * SECOND
    for window in (HOUR, DAY):
        first = (now - window // timedelta(milliseconds=1)) // (5 * MINUTE) * 5 * MINUTE
        assert found.within(window, now) == sum(START + moment >= first for moment in moments)
    assert found.total == len(moments)
    assert len(found.recent) <= 289


@pytest.mark.parametrize(
    ("before", "now", "missed"),
    [
        (NodeVersion("idle", 1, 1), NodeVersion("running", 5, 1), False),
        (NodeVersion("idle", 1, 1), NodeVersion("idle", 5, 1), True),
        (NodeVersion("idle", 1, 1), NodeVersion("running", 5, 4), True),
        (NodeVersion("preempted", 1, 1), NodeVersion("starting", 5, 4), False),
        (NodeVersion("preempted", 1, 1), NodeVersion("idle", 5, 4), True),
        (NodeVersion("idle", 1, 1), NodeVersion("starting", 5, 4), True),
        (NodeVersion("creating", 1, 0), NodeVersion("starting", 5, 4), False),
        (NodeVersion("starting", 2, 1), NodeVersion("idle", 5, 3), False),
        (NodeVersion("starting", 2, 1), NodeVersion("waitingforstarttask", 5, 3), False),
        (NodeVersion("waitingforstarttask", 2, 1), NodeVersion("idle", 5, 3), False),
        (NodeVersion("waitingforstarttask", 2, 1), NodeVersion("starting", 5, 4), True),
        (NodeVersion("starting", 1, 1), NodeVersion("starting", 5, 4), True),
        (NodeVersion("idle", 1, 1), NodeVersion("rebooting", 4, 5), False),
        (NodeVersion("idle", 1, 1), NodeVersion("rebooting", 5, 4), True),
        (NodeVersion("unusable", 1, 1), NodeVersion("reimaging", 4, 5), False),
        (NodeVersion("rebooting", 1, 1), NodeVersion("rebooting", 4, 5), True),
    ],
)
def test_stamps_show_missed_states(before: NodeVersion, now: NodeVersion, *, missed: bool) -> None:
    assert was_missed(before, now) == missed
    record = followed(NodeRecord(1), before, now, known_as_of=3, at=5, spot=True)
    assert record.past == ((EarlierState(NOT_SEEN, 3),) if missed else ()) + (
        EarlierState(before.state, before.transition),
    )


RESTART = ("idle", "rebooting", "starting", "waitingforstarttask", "idle")


@pytest.mark.parametrize("boot_at", [1, 2, 3, 4])
def test_an_ordinary_restart_is_one_explained_fall_at_any_time_of_its_boot(boot_at: int) -> None:
    stamps = [NodeVersion(state, START + at, START + 2 * (at >= boot_at)) for at, state in enumerate(RESTART)]
    record = NodeRecord(START)
    for before, now in itertools.pairwise(stamps):
        record = followed(record, before, now, known_as_of=before.transition, at=now.transition, spot=True)
    assert (record.falls, record.interruptions) == ((START + 1,), NONE)
    assert record.past == tuple(EarlierState(one.state, one.transition) for one in reversed(stamps[:-1]))


def test_a_boot_of_a_node_that_is_starting_is_no_state_that_was_missed() -> None:
    before, now = NodeVersion("starting", START + 2, START), NodeVersion("starting", START + 2, START + 1)
    record = NodeRecord(START)
    assert followed(record, before, now, known_as_of=START + 3, at=START + 5, spot=True) == record


def test_a_restart_out_of_the_start_task_is_unexplained() -> None:
    before, now = NodeVersion("waitingforstarttask", START, START), NodeVersion("starting", START + 20, START + 18)
    record = followed(NodeRecord(START), before, now, known_as_of=START + 10, at=START + 25, spot=True)
    assert (record.falls, record.interruptions.unexplained) == ((START + 18,), 1)


@pytest.mark.parametrize("state", ["preempted", "unusable"])
def test_a_node_whose_clock_is_far_ahead_hides_nothing_that_follows(state: str) -> None:
    far, record = START + 90 * 24 * 60 * MINUTE, NodeRecord(START)
    stamps = [
        NodeVersion(state, far, 0),
        NodeVersion("idle", START + 2 * MINUTE, 0),
        NodeVersion(state, START + 9 * MINUTE, 0),
    ]
    at = [START + MINUTE, START + 3 * MINUTE, START + 10 * MINUTE]
    before = NodeVersion("idle", START, 0)
    for now, polled in zip(stamps, at, strict=True):
        record = followed(record, before, now, known_as_of=polled - MINUTE, at=polled, spot=True)
        before = now
    if state == "preempted":
        assert record.interruptions.within(HOUR, START + 11 * MINUTE) == 2
        assert record.interruptions.latest == START + 9 * MINUTE
    else:
        assert record.falls == (START + 9 * MINUTE, START + MINUTE)


def test_a_boot_that_is_stamped_far_ahead_is_a_fall_when_it_was_seen() -> None:
    before, now = NodeVersion("idle", START, START), NodeVersion("idle", START, START + 90 * 24 * 60 * MINUTE)
    assert followed(NodeRecord(START), before, now, known_as_of=START, at=START + 5, spot=True).falls == (START + 5,)


def test_a_new_node_whose_clock_is_far_ahead_was_interrupted_when_it_was_seen() -> None:
    listed = {"tvm": Node("tvm", "preempted", dedicated=False, transition=START + HOUR // timedelta(milliseconds=1))}
    nodes = merged({}, listed.values(), whole=True, at=START, known_as_of=START - MINUTE)
    assert nodes["tvm"].record.interruptions.latest == START
    assert tallied(InterruptionCount(1), {}, nodes).interruptions.latest == START


def test_from_bad_to_bad_is_one_fall_and_from_up_to_bad_another() -> None:
    record = NodeRecord(START)
    states = ["idle", "unusable", "rebooting", "starting", "starttaskfailed", "rebooting", "idle", "unknown"]
    stamps = [NodeVersion(state, START + number, 0) for number, state in enumerate(states)]
    for before, now in itertools.pairwise(stamps):
        record = followed(record, before, now, known_as_of=0, at=now.transition, spot=False)
    assert record.falls == (START + 7, START + 4, START + 1)
    assert record.flaps_until


@pytest.mark.parametrize(("known_as_of", "total"), [(None, 0), (5, 0), (4, 1)])
def test_interruptions_before_a_pool_was_known_are_not_counted(known_as_of: int | None, total: int) -> None:
    record = first_record(NodeVersion("preempted", 5, 0), since=9, known_as_of=known_as_of)
    assert record.interruptions.total == total
    assert record == NodeRecord(9, interruptions=Interruptions(total, 0, 5 * total, ((0, 1),) * total))
