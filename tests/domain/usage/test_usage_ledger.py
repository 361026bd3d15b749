"""Each moment of a node counts as exactly one billing class, in any order of lists and with any stamps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.nodes.nodes import Node, StartRun
from shared.domain.usage.billing_classes import BILLED, CLASSES, READY, UNBILLED, class_of
from shared.domain.usage.last_nodes import Deletion
from shared.domain.usage.node_spans import ListGap, Removal, ended_spans, gone_spans
from shared.domain.usage.usage_ledger import HOUR, KEPT, DeletedPool, UsageLedger

DAY = 24 * HOUR
LONGEST = 180_000
START = 20_000 * DAY
STATES = (
    *("idle", "running", "creating", "starting", "waitingforstarttask", "starttaskfailed", "unusable", "unknown"),
    *("offline", "rebooting", "reimaging", "upgradingos", "leavingpool", "preempted", "deallocating", "deallocated"),
    "futurestate",
)

stamps = st.just(0) | st.integers(START - 2 * HOUR, START + 6 * HOUR)
runs = st.none() | st.builds(
    StartRun, st.sampled_from(["running", "completed"]), st.sampled_from(["", "success", "failure"]), start=stamps,
    end=stamps, retries=st.integers(0, 2),
)  # fmt: skip
nodes = st.builds(
    Node, st.just("a"), st.sampled_from(STATES), st.booleans(), stamps, stamps, stamps, start=runs,
    vm_size=st.sampled_from(["a", "b"]),
)  # fmt: skip
removals = st.tuples(stamps, stamps)


@dataclass(slots=True)
class Account:
    """A ledger that lists move on, and the milliseconds of each node that it must have."""

    ledger: UsageLedger
    nodes: dict[str, Node] = field(default_factory=dict)
    as_of: int = START
    began: dict[str, int] = field(default_factory=dict)
    gone: dict[str, tuple[int, int]] = field(default_factory=dict)

    def list(self, listed: Mapping[str, Node], at: int, removal: tuple[int, int] = (0, 0)) -> None:
        gap = ListGap(self.as_of, at, LONGEST)
        ledger = self.ledger.after(self.nodes, listed, gap, Removal(*removal, at))
        for name in self.nodes.keys() - listed.keys():
            start = self.began.pop(name)
            self.gone[name] = max(self.as_of - start, 0), max(at - start, 0)
        for name in listed.keys() - self.nodes.keys():
            node = listed[name]
            self.began[name] = max(node.allocated or node.transition or at, self.as_of)
        assert ledger.after(listed, dict(listed), ListGap(at, at + 1, LONGEST), Removal(0, 0, at + 1)) is ledger
        self.ledger, self.nodes, self.as_of = ledger, dict(listed), at

    def of(self, name: str) -> dict[str, int]:
        """Returns the milliseconds of a node, whose name is its VM size, by class."""
        found: Counter[str] = Counter()
        for amounts in self.ledger.total(self.nodes, self.as_of).values():
            for kind, amount in amounts.items():
                assert 0 < amount <= HOUR
                if kind.vm_size == name:
                    found[kind.billing_class] += amount
        return dict(found)

    def check(self) -> None:
        for name, start in self.began.items():
            assert sum(self.of(name).values()) == max(self.as_of - start, 0), name
        for name, (low, high) in self.gone.items():
            assert low <= sum(self.of(name).values()) <= high, name


@given(
    st.lists(st.tuples(st.integers(1_000, HOUR), st.dictionaries(st.sampled_from("abc"), nodes), removals), max_size=8)
)
def test_the_classes_of_each_node_add_up_to_its_time_whatever_its_stamps_are(
    lists: list[tuple[int, dict[str, Node], tuple[int, int]]],
) -> None:
    account = Account(UsageLedger(START, START))
    lives: Counter[str] = Counter()
    for after, found, removal in lists:
        listed = {}
        for name, node in found.items():
            before = next((key for key in account.nodes if key[0] == name), None)
            lives[name] += before is None
            key = before or f"{name}{lives[name]}"
            allocated = account.nodes[before].allocated if before else node.allocated
            listed[key] = node._replace(id=key, vm_size=key, dedicated=True, allocated=allocated)
        account.list(listed, account.as_of + after, removal)
        account.check()


@given(nodes, nodes, st.integers(0, HOUR), st.integers(0, 3 * HOUR), st.integers(0, 2 * HOUR))
def test_spans_of_a_change_follow_each_other_without_holes_and_end_where_the_present_state_begins(
    old: Node, now: Node, known: int, later: int, start: int
) -> None:
    gap = ListGap(START + known, START + known + later, LONGEST)
    for before in (old, None):
        spans = ended_spans(before, now, START + start, gap)
        assert all(span.start < span.end <= max(gap.at, START + start) for span in spans)
        assert all(first.end == second.start for first, second in pairwise(spans))
        assert all(first.billing_class in CLASSES for first in spans)
        if spans:
            assert spans[0].start == START + start
            assert spans[-1].end == max(START + start, min(now.transition or gap.at, gap.at))


@given(nodes, st.integers(0, HOUR), st.integers(0, 3 * HOUR), st.integers(0, 2 * HOUR), removals)
def test_a_node_that_is_gone_was_there_until_between_both_lists(
    old: Node, known: int, later: int, start: int, removal: tuple[int, int]
) -> None:
    gap = ListGap(START + known, START + known + later, LONGEST)
    spans = gone_spans(old, START + start, gap, Removal(*removal, gap.at))
    assert all(first.end == second.start for first, second in pairwise(spans))
    end = spans[-1].end if spans else START + start
    assert min(gap.known_as_of, gap.at) <= max(end, START + start)
    assert end <= max(gap.at, START + start)


def test_each_state_has_a_class_and_one_that_is_new_counts_as_unknown() -> None:
    assert {class_of(state) for state in STATES} == CLASSES.keys() - {"ready", "unwatched"}
    assert class_of("futurestate") == "unknown"
    assert tuple(name for name in CLASSES if name not in {*UNBILLED, "unwatched"}) == BILLED
    assert set(BILLED) > READY


def node(state: str, since: int, *, booted: int = 0, start: StartRun | None = None, allocated: int = 0) -> Node:
    """Returns a node; times are seconds since START."""
    times = {"transition": since, "booted": booted, "allocated": allocated}
    moments = [START + 1_000 * seconds if seconds or name != "booted" else 0 for name, seconds in times.items()]
    return Node("a", state, True, moments[0], moments[1], moments[2], start=start, vm_size="a")


def run(start: int, end: int = 0, result: str = "") -> StartRun:
    times = [START + 1_000 * seconds if seconds else 0 for seconds in (start, end)]
    return StartRun("completed" if end else "running", result, start=times[0], end=times[1])


def classes(*lists: tuple[int, Node | None], resize: tuple[int, int] = (0, 0)) -> dict[str, int]:
    """Returns the seconds of a node by class after lists at seconds since START; None: it is gone."""
    account = Account(UsageLedger(START, START))
    for at, found in lists:
        removal = [START + 1_000 * seconds if seconds else 0 for seconds in resize]
        account.list({"a": found} if found else {}, START + 1_000 * at, (removal[0], removal[1]))
    return {name: amount // 1_000 for name, amount in account.of("a").items()}


IDLE = node("idle", 10)
POOL = DeletedPool("p", 1, None, None)


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (((60, IDLE), (120, IDLE)), {"starting": 10, "idle": 110}),
        (((60, IDLE), (120, node("running", 100)), (180, node("running", 100))),
         {"starting": 10, "idle": 50, "ready": 40, "running": 80}),
        (((60, IDLE), (120, node("idle", 115))), {"starting": 10, "idle": 55, "ready": 55}),
        (((60, IDLE), (120, node("offline", 90))), {"starting": 10, "idle": 50, "ready": 30, "offline": 30}),
        (((60, node("creating", 0)), (120, node("idle", 110, booted=70, start=run(80, 109, "success")))),
         {"starting": 80, "startTask": 29, "ready": 1, "idle": 10}),
        (((60, node("starting", 30, booted=30)), (120, node("starttaskfailed", 110, booted=30, start=run(80, 109)))),
         {"starting": 80, "startTask": 30, "startTaskFailed": 10}),
        (((60, node("preempted", 20)), (120, node("running", 110, booted=80))),
         {"starting": 20 + 30, "preempted": 60, "running": 10}),
        (((60, IDLE), (120, node("idle", 110, booted=80))),
         {"starting": 10 + 30, "idle": 50 + 10, "unwatched": 20}),
        (((60, IDLE), (120, node("rebooting", 90, booted=95))),
         {"starting": 10, "idle": 50, "ready": 30, "rebooting": 30}),
        (((60, node("starting", 0, booted=1)), (120, node("idle", 100, booted=1))), {"starting": 100, "idle": 20}),
        (((60, node("running", 0)), (120, node("running", 0))), {"running": 120}),
        (((60, node("futurestate", 0)), (120, node("futurestate", 0))), {"unknown": 120}),
    ],
    ids=[
        "unchanged", "from idle to running", "idle since later", "from idle to offline", "its whole start at once",
        "a start task that failed", "preempted and back", "a reboot that no list shows", "a reboot that lasts",
        "no start task", "running all the time", "a state that is new",
    ],
)  # fmt: skip
def test_a_node_counts_by_its_stamps_between_polls(
    lists: tuple[tuple[int, Node], ...], expected: dict[str, int]
) -> None:
    assert classes(*lists) == expected


def test_a_state_without_a_sight_for_more_than_three_polls_is_unwatched_except_where_stamps_bound_it() -> None:
    later = node("idle", 1_100, booted=900, start=run(930, 1_090, "success"))
    assert classes((60, IDLE), (1_200, later)) == {
        "starting": 10 + 30, "idle": 50 + 100, "unwatched": 840, "startTask": 160, "ready": 10,
    }  # fmt: skip
    assert classes((60, IDLE), (1_200, node("running", 1_000))) == {
        "starting": 10, "idle": 50, "unwatched": 940, "running": 200,
    }  # fmt: skip
    assert classes((60, IDLE), (1_200, node("running", 200))) == {
        "starting": 10, "idle": 50, "ready": 140, "running": 1_000,
    }  # fmt: skip
    assert classes((60, IDLE), (1_200, IDLE)) == {"starting": 10, "idle": 1_190}
    assert classes((60, IDLE), (1_200, None)) == {"starting": 10, "idle": 50, "unwatched": 1_140}


def test_a_node_that_is_gone_left_with_the_resize_or_in_the_middle_between_the_lists() -> None:
    begun = {"starting": 10, "idle": 50}
    assert classes((60, IDLE), (120, None)) == {**begun, "ready": 30}
    assert classes((60, IDLE), (120, None), resize=(80, 0)) == {**begun, "ready": 20, "leaving": 20}
    assert classes((60, IDLE), (120, None), resize=(0, 100)) == {**begun, "ready": 20, "leaving": 20}
    assert classes((60, IDLE), (900, None), resize=(80, 400)) == {**begun, "ready": 20, "leaving": 320}
    assert classes((60, node("leavingpool", 50)), (120, None), resize=(0, 110)) == {"starting": 50, "leaving": 60}


@pytest.mark.parametrize(
    ("deletions", "expected"),
    [
        ((), None),
        (((20, 50), (500, 510)), None),
        (((100, 108),), {"ready": 80, "leaving": 16}),
        (((20, 50), (40, 70)), {"leaving": 20}),
        (((90, 110), (40, 70)), {"leaving": 20}),
        (((0, 121),), {"ready": 60, "leaving": 60}),
    ],
)
def test_a_pool_that_is_deleted_between_two_polls_ends_when_its_event_says_so(
    deletions: Sequence[tuple[int, int]], expected: Mapping[str, int] | None
) -> None:
    nodes = {"a": IDLE, "b": IDLE._replace(id="b")}
    first = UsageLedger(START, START).after({}, nodes, ListGap(START, START + 60_000, LONGEST), Removal(0, 0, 0))
    gap = ListGap(START + 60_000, START + 120_000, LONGEST)
    ended = first.ended(nodes, gap, Removal(0, 0, gap.at), POOL)
    times = [Deletion(began and START + 1_000 * began, START + 1_000 * over) for began, over in deletions]
    dated = ended.dated(times)
    assert (dated is ended) == (expected is None)
    assert dated.dated(times) is dated
    assert (dated.pool, dated.as_of, dated.has_time) == (POOL, gap.at, True)
    account = Account(dated, as_of=gap.at)
    assert account.of("a") == {"starting": 20_000, "idle": 100_000} | {
        name: 1_000 * seconds for name, seconds in (expected or {"ready": 60}).items()
    }


def test_a_pool_that_is_created_again_keeps_the_time_of_the_nodes_of_the_one_before() -> None:
    gaps = [ListGap(START + 60_000 * number, START + 60_000 * (number + 1), LONGEST) for number in range(4)]
    nodes, none = {"a": IDLE}, Removal(0, 0, START + 9 * HOUR)
    ended = UsageLedger(START, START).after({}, nodes, gaps[0], none).ended(nodes, gaps[1], none, POOL)
    anew = {"b": node("idle", 130, allocated=130)._replace(id="b")}
    running = ended.after({}, anew, gaps[2], none)
    again = running.ended(anew, gaps[3], none, POOL)
    for ledger, listed, as_of, seconds in ((ended, {}, 120, 0), (running, anew, 180, 50), (again, {}, 240, 80)):
        found = Account(ledger, listed, START + 1_000 * as_of).of("a")
        assert sum(found.values()) == 1_000 * (60 + 30 + seconds)


def test_nodes_of_the_same_name_with_another_allocation_time_are_two() -> None:
    second = node("idle", 110, booted=105, allocated=100)
    found = classes((60, IDLE), (120, second))
    assert found == {"starting": 10 + 10, "idle": 50 + 10, "ready": 20}


def test_a_list_that_lacks_a_node_for_once_counts_nothing_twice() -> None:
    found = classes((60, IDLE), (120, None), (180, IDLE))
    assert sum(found.values()) == 180 - 30


def test_clocks_that_are_ahead_or_behind_move_no_time_from_one_list_to_another() -> None:
    ahead = node("running", 1_000)
    assert classes((60, IDLE), (120, ahead), (180, ahead), (240, node("idle", 200))) == {
        "starting": 10, "idle": 50 + 40, "ready": 60 + 20, "running": 60,
    }  # fmt: skip
    assert classes((60, node("idle", 50)), (120, node("running", 20))) == {"starting": 50, "running": 70}


def test_seconds_stand_in_their_hours_and_old_ones_go_with_the_next_change() -> None:
    account = Account(UsageLedger(START, START))
    account.list({"a": node("idle", 1_800)}, START + 4 * HOUR)
    account.list({"a": node("running", 3 * 3_600 + 60)}, START + 5 * HOUR)
    assert sorted(account.ledger.hours) == [START // HOUR + number for number in range(4)]
    later = START + KEPT // timedelta(milliseconds=1) + DAY + HOUR
    account.list({"a": node("running", 3 * 3_600 + 60)}, later)
    assert len(account.ledger.hours) == 4
    stopped = node("offline", (later - START) // 1_000 - 60)
    account.list({"a": stopped}, later + HOUR)
    assert account.ledger.since == START + DAY
    assert min(account.ledger.hours) == (START + DAY) // HOUR
    assert not account.ledger.is_over(later + HOUR)
    assert account.ledger.is_over(later + 6 * DAY)
