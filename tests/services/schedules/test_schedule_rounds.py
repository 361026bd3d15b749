"""Polls of job schedules: their claims are true despite concurrent changes, at the expected cost."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.missed_runs import missed_runs
from shared.domain.schedules.schedules import Recurrence
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.services.schedules.schedules_round_state import SchedulesRoundState
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.schedule_world import ScheduleWorld

NAMES = ("Alpha", "Beta")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world() -> Iterator[ScheduleWorld]:
    made = ScheduleWorld()
    yield made
    made.close()


changes = st.tuples(st.sampled_from(["run", "disable", "modify", "delete"]), st.sampled_from(NAMES))
faults = st.none() | st.builds(Fault, call=st.integers(1, 6), committed=st.booleans(), kills=st.booleans())
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), changes),
        st.tuples(st.just("look"), st.integers(0, 1), st.sampled_from([0.0, 3.0]), changes, faults),
        st.tuples(st.just("both"), st.sampled_from([0.5, 4.0]), st.sampled_from([0.5, 4.0]), changes, faults),
        st.tuples(st.just("wait"), st.sampled_from([5.0, 1000.0])),
    ),
    max_size=12,
)


def change(world: ScheduleWorld, how: tuple[str, str]) -> None:
    """Creates a missing schedule, or changes an existing one back and forth."""
    kind, name = how
    facts = world.service.there.get(name.lower())
    if facts is None:
        world.create(name)
    elif kind == "delete":
        world.delete(name)
    elif kind == "run":
        world.change(name, recent_job=f"{name}:job-{1 + (facts.jobs_made or 0) % 2}")
    elif kind == "modify":
        world.change(name, last_modified=world.now())
    else:
        world.change(name, state="active" if facts.state == "disabled" else "disabled")


def take(world: ScheduleWorld, step: tuple[Any, ...]) -> None:
    match step:
        case ("change", how):
            change(world, how)
        case ("look", who, takes, how, fault):
            if takes:
                world.later(takes * 0.8, lambda: change(world, how))
            world.look((who, takes), fault=fault)
        case ("both", first, second, how, fault):
            world.later(first * 0.4, lambda: change(world, how))
            world.later(second * 0.7, lambda: change(world, how))
            world.look((0, first), (1, second), fault=fault)
        case ("wait", seconds):
            world.wait(seconds)


def play(world: ScheduleWorld, script: list[tuple[Any, ...]]) -> None:
    for name in NAMES:
        world.create(name)
    for step in script:
        take(world, step)
        world.wait(2)
    world.wait(1000)
    world.look((0, 0.0), thorough=True)


@given(steps)
def test_claims_about_schedules_are_always_true(script: list[tuple[Any, ...]]) -> None:
    world = ScheduleWorld()
    try:
        play(world, script)
        known = world.known()
        there = {key: schedule for key, schedule in known.resources.items() if not schedule.deleted}
        assert {key: schedule.facts for key, schedule in there.items()} == world.service.there
        assert not any(schedule.wants_specification for schedule in there.values())
        assert known.last
        assert {known.last.as_of_schedule(schedule) for schedule in there.values()} <= {known.last.as_of}
    finally:
        world.close()


def _seen_by(last: ScheduleRound, _schedule: Any) -> Any:
    return last.as_of


def test_a_row_that_is_taken_to_be_as_of_any_later_list_is_noticed(
    world: ScheduleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScheduleRound, "as_of_schedule", _seen_by)
    with pytest.raises(AssertionError):
        _a_list_has_invalid_data_of_a_schedule(world)


def test_a_schedule_with_invalid_data_is_as_of_its_last_valid_list(world: ScheduleWorld) -> None:
    _a_list_has_invalid_data_of_a_schedule(world)
    known = world.known()
    assert known.last
    assert known.last.as_of_schedule(known.resources["alpha"]) == world.now() - timedelta(seconds=60)


def _missed(world: ScheduleWorld) -> int | None:
    known = world.known()
    assert known.last
    alpha = known.resources["alpha"]
    return missed_runs(alpha, {}, known.last.as_of_schedule(alpha)).count


def _a_schedule_that_missed_runs_gets_invalid_data(world: ScheduleWorld) -> None:
    """The list is invalid at the moment when the schedule is disabled."""
    world.create("Alpha")
    rules = Recurrence(interval="PT1M", start_window="PT1M")
    world.change("Alpha", recurrence=rules, next_run_time=world.now() + timedelta(hours=1))
    for _ in range(120):
        world.look()
        world.wait(60)
    missed = _missed(world)
    assert missed == 60
    world.change("Alpha", state="disabled")
    for garbled in ({"alpha"}, set[str]()):
        world.service.garbled = garbled
        world.look()
        assert _missed(world) == missed
        world.wait(60)


def test_missed_runs_stay_missed_where_a_schedule_is_disabled_with_invalid_data(world: ScheduleWorld) -> None:
    _a_schedule_that_missed_runs_gets_invalid_data(world)


def test_a_look_that_takes_a_schedule_to_be_known_since_it_was_first_seen_is_noticed(
    world: ScheduleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SchedulesRoundState, "before", lambda _this, schedule: schedule.seen_at)
    with pytest.raises(AssertionError):
        _a_schedule_that_missed_runs_gets_invalid_data(world)


def _a_list_has_invalid_data_of_a_schedule(world: ScheduleWorld) -> None:
    """The schedule is stored unchanged for three hours, and changes before a list returns invalid data about it."""
    world.create("Alpha")
    for _ in range(180):
        world.look()
        world.wait(60)
    world.change("Alpha", state="disabled")
    world.service.garbled = {"alpha"}
    world.look()


def test_an_older_list_is_not_written_over_a_later_one(world: ScheduleWorld) -> None:
    """The later look finds the stored state again, so it needn't write the row."""
    world.create("Alpha")
    world.look()
    world.wait(60)
    world.change("Alpha", state="disabled")
    world.later(6, lambda: world.change("Alpha", state="active"))
    world.later(7, lambda: world.look_beside(1))
    world.look((0, 10.0))
    known = world.known()
    assert known.last
    assert known.last.as_of_schedule(known.resources["alpha"]) == known.last.as_of
    assert known.resources["alpha"].facts.state == "active"


def confirmed_before_a_slower_look_writes(world: ScheduleWorld, at: float) -> None:
    """Ends a faster look `at` seconds into the slower one, after that has checked for a faster one."""
    world.create("Alpha")
    world.look()
    world.wait(60)
    world.processes[0].connection.latency = 5
    world.later(10, lambda: world.change("Alpha", state="disabled"))
    world.later(14, lambda: world.change("Alpha", state="active"))
    world.later(at, lambda: world.look_beside(1))
    world.look((0, 6.0))
    world.processes[0].connection.latency = 0


def comes_right(world: ScheduleWorld) -> None:
    world.wait(60)
    world.look()
    assert world.level() == "exact"
    assert world.known().resources["alpha"].facts.state == "active"


def a_deleted_schedule_stays_away(world: ScheduleWorld) -> None:
    """A slow first look lists a schedule at 3 s; it is deleted, and a faster look lists none before the other ends."""
    world.create("Alpha")
    world.create("Beta")
    world.later(4, lambda: world.delete("Alpha"))
    world.later(5, lambda: world.look_beside(1))
    world.look((0, 6.0))
    assert world.known().resources.keys() == {"beta"}


def test_a_slow_first_look_writes_no_schedule_missing_from_a_later_list(world: ScheduleWorld) -> None:
    a_deleted_schedule_stays_away(world)
    world.wait(60)
    world.look()
    assert world.known().resources.keys() == {"beta"}
    assert world.level("beta") == "exact"


async def nobody_was_faster(*_: object) -> set[str]:
    return set()


def test_a_slow_first_look_that_gives_way_to_no_later_list_is_noticed(
    world: ScheduleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScheduleRounds, "_stored_later", nobody_was_faster)
    with pytest.raises(AssertionError):
        a_deleted_schedule_stays_away(world)


@pytest.mark.parametrize("at", range(15, 45, 3))
def test_a_slower_look_takes_as_of_back_nowhere(world: ScheduleWorld, at: int) -> None:
    confirmed_before_a_slower_look_writes(world, at)
    comes_right(world)


def a_look_without_an_overtaken_schedule(world: ScheduleWorld) -> None:
    """A list omits it, and time runs out before it can be looked up: which look was right stays open."""
    confirmed_before_a_slower_look_writes(world, 24)
    before = world.known()
    assert before.last
    assert world.level() == "unverified"
    truth = world.service.there
    for who in (1, 0):
        world.wait(10)
        world.service.states.append((world.now(), {}))
        world.run(world.processes[who].rounds.run(world.heard_of, lambda: False))
        world.service.states.append((world.now(), truth))
        assert world.level() == "unverified"
        after = world.known()
        assert after.last
        as_of = [each.last.as_of_schedule(each.resources["alpha"]) for each in (before, after) if each.last]
        assert as_of[0] == as_of[1]


def test_a_look_without_an_overtaken_schedule_does_not_call_it_exact(world: ScheduleWorld) -> None:
    a_look_without_an_overtaken_schedule(world)
    comes_right(world)


def test_when_a_schedule_was_written_is_no_part_of_its_version(world: ScheduleWorld) -> None:
    """Older versions stored no such time, so an upgrade would make their confirmations doubtful."""
    world.create("Alpha")
    world.look()
    schedule = world.known().resources["alpha"]
    assert schedule.written_as_of
    assert replace(schedule, written_as_of=None).version == schedule.version
    assert "written_as_of" not in repr(schedule)


def as_it_stands(this: SchedulesRoundState, key: str) -> tuple[str, datetime]:
    schedule = this.known.resources[key]
    return schedule.version, this.before(schedule)


def test_an_overtaken_schedule_that_is_held_as_it_stands_is_noticed(
    world: ScheduleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SchedulesRoundState, "held", as_it_stands)
    with pytest.raises(AssertionError):
        a_look_without_an_overtaken_schedule(world)


def two_looks_lose_to_a_third(world: ScheduleWorld) -> None:
    """A fast look confirms the stored state, after the slowest has checked for that and before it writes its result."""
    world.processes.append(world.started())
    world.create("Alpha")
    world.look()
    world.wait(60)
    slowest, fast, slow = world.processes
    slowest.connection.latency, slowest.batch.latency = 5, 6  # it lists at 13 s, and writes at 31 s
    slow.connection.latency, slow.batch.latency = 1, 2
    looks = [slowest.rounds.run(world.heard_of, lambda: True), world.watch(80)]
    world.later(10, lambda: world.change("Alpha", state="disabled"))
    world.later(14, lambda: world.change("Alpha", state="active"))
    world.later(28, lambda: world.change("Alpha", display_name="x"))
    for at, process in ((24, fast), (25, slow)):
        looks.append(after(at, process.rounds.run(world.heard_of, lambda: True)))
    world.run_all(*looks)


async def after(seconds: float, work: Any) -> None:
    await asyncio.sleep(seconds)
    await work


def test_a_look_that_lost_a_write_keeps_as_of_when_the_schedule_held(world: ScheduleWorld) -> None:
    two_looks_lose_to_a_third(world)
    assert world.level() == "unverified"
    comes_right(world)


def test_a_slower_look_gives_way_though_a_later_list_omits_the_schedule(world: ScheduleWorld) -> None:
    """A list after the faster look omits the schedule, and time runs out before it can be looked up."""
    world.create("Alpha")
    world.look()
    world.wait(60)
    world.later(4, lambda: world.change("Alpha", state="disabled"))
    world.later(6, lambda: world.change("Alpha", state="active"))
    slow, fast = world.processes
    slow.batch.latency = 10
    world.later(8, lambda: setattr(slow.connection, "latency", 3))
    look = world.loop.create_task(slow.rounds.run(world.heard_of, lambda: True))
    world.wait(8.5)
    world.run(fast.rounds.run(world.heard_of, lambda: True))
    truth = world.service.there
    world.wait(1)
    world.service.states.append((world.now(), {}))
    world.run(fast.rounds.run(world.heard_of, lambda: False))
    world.service.states.append((world.now(), truth))
    world.run_all(look)
    assert world.known().resources["alpha"].facts.state == "active"
    world.check()


def test_an_account_without_schedules_is_asked_every_quarter_of_an_hour_and_costs_nothing_in_between(
    world: ScheduleWorld,
) -> None:
    asked = []
    for _ in range(31):
        asked.append(world.look())
        if not asked[-1]:
            assert world.table_calls <= 2  # once: the state that the first look left is read
        world.wait(60)
    assert [minute for minute, requests in enumerate(asked) if requests] == [0, 15, 30]
    world.look()
    assert world.table_calls <= 2
    world.look()
    assert world.table_calls == 0


def test_a_job_of_an_unknown_schedule_calls_for_a_look_once(world: ScheduleWorld) -> None:
    for _ in range(2):
        world.look()
        world.wait(60)
    world.create("Alpha", "completed")
    world.heard = {"alpha", "past"}
    assert world.look() == ["list", "specifications"]
    world.wait(60)
    assert world.look() == []
    world.processes[0] = world.started()
    assert world.look() == ["list"]  # of the previous one
    assert world.look() == []
    world.heard = {"alpha"}
    world.processes[0] = world.started()
    assert world.look() == []


def test_schedules_that_do_not_change_cost_a_request_and_one_row_a_round(world: ScheduleWorld) -> None:
    world.create("Alpha")
    world.look()
    for _ in range(3):
        world.wait(60)
        world.storage.writes.clear()
        assert world.look() == ["list"]
        assert world.storage.writes == ["accounts"]
        assert world.table_calls == 2


def test_schedules_are_read_from_storage_every_fifteen_minutes(world: ScheduleWorld) -> None:
    world.create("Alpha")
    costs = []
    for _ in range(31):
        world.look()
        costs.append(world.table_calls)
        world.wait(60)
    assert [minute for minute, calls in enumerate(costs) if calls != 2] == [0, 15, 30]


def test_schedules_are_read_from_storage_where_another_process_looked_last(world: ScheduleWorld) -> None:
    world.create("Alpha")
    world.look()
    world.change("Alpha", recent_job="Alpha:job-1")
    world.wait(60)
    world.look((1, 0.0))
    world.wait(60)
    world.look()
    assert world.table_calls == 3
    assert world.known().resources["alpha"].facts.recent_job == "Alpha:job-1"


def test_completed_schedules_are_looked_at_now_and_then_and_old_ones_never_taken_in(world: ScheduleWorld) -> None:
    world.create("Old", "completed")
    world.wait(8 * 86_400)
    world.create("New", "completed")
    assert world.look() == ["list", "specifications"]
    assert world.known().resources.keys() == {"new"}
    world.wait(60)
    assert world.look() == []
    world.delete("New")
    world.wait(900)
    assert world.look() == ["list", "get New"]
    assert world.known().resources["new"].deleted
    world.wait(900)
    assert world.look() == ["list"]


def test_a_job_of_a_schedule_that_is_never_taken_in_calls_for_one_look(world: ScheduleWorld) -> None:
    world.create("Old", "completed")
    world.wait(8 * 86_400)
    world.heard = {"old"}
    asked = []
    for _ in range(60):
        asked += world.look()
        world.wait(60)
    assert asked == ["list"] * 5  # one every quarter of an hour, and one for the job


@pytest.mark.parametrize(("seconds", "was_due"), [(-1, True), (1, False)])
def test_for_which_run_the_first_counted_job_was_made_is_noted_while_that_is_known(
    world: ScheduleWorld, seconds: int, *, was_due: bool
) -> None:
    world.create("Alpha")
    due = world.now() + timedelta(minutes=1)
    world.change("Alpha", last_modified=world.now() + timedelta(seconds=1), next_run_time=due)
    world.change("Alpha", recent_job="Alpha:job-7")
    world.look()
    world.wait(60)
    world.change("Alpha", recent_job="Alpha:job-8", next_run_time=due + timedelta(minutes=1))
    world.look()
    baseline = world.known().resources["alpha"].baseline
    assert baseline
    assert (baseline.made, baseline.next_was_due) == (7, None)
    world.jobs = {"alpha:JOB-8": due + timedelta(seconds=seconds)}
    world.wait(1)
    world.look()
    world.jobs = {}
    world.look()
    baseline = world.known().resources["alpha"].baseline
    assert baseline
    assert baseline.next_was_due == was_due
