"""Polls of job schedules where Batch fails, throttles or returns invalid data, or a stored row is invalid."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from shared.errors import BatchAnswerError, BatchThrottledError, StorageError
from tests.services.worlds.process import ACCOUNT
from tests.services.worlds.schedule_world import GARBLED, NONSENSE, ScheduleWorld

NAMES = ("Alpha", "Beta")


@pytest.fixture
def world() -> Iterator[ScheduleWorld]:
    made = ScheduleWorld()
    yield made
    made.close()


@pytest.mark.parametrize("request_", ["list", "specifications", "get Alpha"])
def test_a_failure_is_reported_for_its_schedules_only(world: ScheduleWorld, request_: str) -> None:
    for name in NAMES:
        world.create(name)
    world.look()
    world.wait(60)
    if request_ == "specifications":
        world.change("Alpha", last_modified=world.now())
    elif request_ != "list":
        world.delete("Alpha")
    world.service.refusals[request_] = BatchAnswerError("It broke.")
    world.look()
    known = world.known()
    assert known.last
    assert not known.resources["alpha"].deleted
    failures = {key: known.last.failure_of(schedule.key) for key, schedule in known.resources.items()}
    assert failures == {"alpha": "It broke.", "beta": "It broke." if request_ == "list" else None}
    world.service.refusals.clear()
    world.wait(60)
    world.look()
    known = world.known()
    assert known.last
    assert known.last.problem is None
    assert known.resources["alpha"].deleted == (request_ == "get Alpha")


def test_a_schedule_with_invalid_data_alone_is_stale_and_not_taken_for_deleted(
    world: ScheduleWorld,
) -> None:
    for name in NAMES:
        world.create(name)
    world.look()
    world.create("New")
    world.service.garbled = {"alpha", "new"}
    for _ in range(2):
        world.wait(60)
        assert "get Alpha" not in world.look()
        known = world.known()
        assert known.last
        assert known.last.failures == {"alpha": GARBLED, "new": GARBLED}
        assert known.last.failure_of("beta") is None
        assert not known.resources["alpha"].deleted
        assert "new" not in known.resources
    world.service.garbled = set()
    world.wait(60)
    world.look()
    known = world.known()
    assert known.last
    assert (known.last.failures, "new" in known.resources) == ({}, True)


def test_throttling_is_handed_on_and_asks_nothing_more(world: ScheduleWorld) -> None:
    for name in NAMES:
        world.create(name)
    world.look()
    for name in NAMES:
        world.delete(name)
    world.create("Gamma")
    throttled = BatchThrottledError("http://x", timedelta(seconds=7), status=429)
    world.service.refusals["get Alpha"] = throttled
    world.wait(60)
    process = world.processes[0]
    process.batch.requests.clear()
    end = world.run_of(0)
    assert (end.throttled, end.problem) == (
        throttled,
        "Job schedules: 1 job schedule couldn't be read; its verdict says why.",
    )
    assert process.batch.requests == ["list", "get Alpha"]
    assert [schedule.deleted for schedule in world.known().resources.values()] == [False] * 3


def spoil(world: ScheduleWorld, key: str) -> None:
    """Makes a schedule's row invalid."""
    places = world.storage.rows["jobschedules"]
    place = next(place for place, (row, _) in places.items() if row["RowKey"] == key)
    row, etag = places[place]
    places[place] = ({**row, "schedule0": b"nonsense"}, etag)


def test_a_row_that_makes_no_sense_is_one_failure_and_written_anew(world: ScheduleWorld) -> None:
    for name in NAMES:
        world.create(name)
    world.look()
    spoil(world, "alpha")
    assert world.known().resources.keys() == {"beta"}
    assert "The job schedule 'Alpha' can't be read" in world.known().unreadable["alpha"].why
    with pytest.raises(StorageError, match="The job schedule 'Alpha' can't be read"):
        world.run(world.started().store.load(ACCOUNT.key, "Alpha"))
    world.processes[0] = world.started()
    world.wait(60)
    assert world.look() == ["list", "specifications"]
    known = world.known()
    assert known.last
    assert known.last.failures.keys() == {"alpha"}
    assert known.resources.keys() == {"alpha", "beta"}
    world.wait(60)
    assert world.run_of(0).problem is None


def test_a_schedule_made_anew_since_the_list_is_not_as_of_that_where_its_row_makes_no_sense(
    world: ScheduleWorld,
) -> None:
    world.create("Alpha")
    world.wait(60)
    world.look()
    spoil(world, "alpha")
    world.delete("Alpha")
    world.processes[0] = world.started()
    world.wait(60)
    world.later(3 * 0.8, lambda: world.create("Alpha"))
    assert world.look((0, 3.0), thorough=True) == ["list", "get Alpha"]
    assert "The job schedule 'Alpha' can't be read" in world.known().unreadable["alpha"].why
    world.wait(60)
    world.look()
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]


def test_a_row_that_makes_no_sense_goes_where_there_is_nothing_in_its_place(world: ScheduleWorld) -> None:
    world.create("Alpha", "completed")
    world.look()
    spoil(world, "alpha")
    world.delete("Alpha")
    world.processes[0] = world.started()
    assert world.look(thorough=True) == ["list", "get Alpha"]
    assert world.storage.rows["jobschedules"] == {}
    world.wait(60)
    assert world.look() == ["list"]
    world.wait(60)
    assert world.look() == []


def test_a_row_that_makes_no_sense_is_written_anew_however_long_ago_its_schedule_completed(
    world: ScheduleWorld,
) -> None:
    world.create("Alpha", "completed")
    world.look()
    spoil(world, "alpha")
    world.wait(8 * 86_400)
    world.processes[0] = world.started()
    world.look(thorough=True)
    assert world.known().resources.keys() == {"alpha"}


def test_a_specification_that_makes_no_sense_is_asked_for_once_and_fails_nothing(world: ScheduleWorld) -> None:
    world.service.nonsense = {"alpha"}
    for name in NAMES:
        world.create(name, "completed")
    assert world.look() == ["list", "specifications"]
    known = world.known()
    assert known.last
    assert known.last.problem is None
    alpha = known.resources["alpha"]
    assert (alpha.specification, alpha.unspecified, known.resources["beta"].unspecified) == (None, NONSENSE, None)
    for _ in range(3):
        world.wait(60)
        assert world.look() == []
    world.service.nonsense = set()
    world.change("Alpha", last_modified=world.now())
    assert world.look(thorough=True) == ["list", "specifications"]
    alpha = world.known().resources["alpha"]
    assert (alpha.specification is None, alpha.unspecified) == (False, None)
