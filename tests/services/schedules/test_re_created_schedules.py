"""Job schedules that are deleted and re-created under their id: no claim mixes them, and the new one is read soon."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.services.schedules import schedule_rounds
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.services.schedules.schedules_round_state import SchedulesRoundState
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.schedule_world import ScheduleWorld


@pytest.fixture
def world() -> Iterator[ScheduleWorld]:
    made = ScheduleWorld()
    yield made
    made.close()


def a_schedule_is_made_anew_around_the_list(world: ScheduleWorld) -> None:
    """The schedule is missing when schedules are listed, and exists again when it is looked up."""
    world.create("Alpha")
    world.wait(60)
    world.look()
    world.wait(60)
    world.delete("Alpha")
    world.later(3 * 0.8, lambda: world.create("Alpha"))
    assert world.look((0, 3.0))[:2] == ["list", "get Alpha"]


async def looked_up_at_once(
    self: ScheduleRounds, this: SchedulesRoundState, _key: str, name: str, date: datetime
) -> None:
    """Dates the result of a GET as of the list."""
    this.show(await self.source.fetch_schedule(name), date)


def test_a_schedule_made_anew_since_the_list_is_left_to_the_next_look(world: ScheduleWorld) -> None:
    a_schedule_is_made_anew_around_the_list(world)
    assert world.known().resources["alpha"].facts != world.service.there["alpha"]
    world.wait(60)
    world.look()
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]
    assert world.level() == "exact"


def a_completed_schedule_is_re_created_around_the_list(world: ScheduleWorld) -> None:
    world.create("Alpha", "completed")
    world.wait(60)
    world.look()
    world.wait(1000)
    world.delete("Alpha")
    world.later(3 * 0.8, lambda: world.create("Alpha"))
    assert world.look((0, 3.0)) == ["list", "get Alpha"]
    world.wait(60)
    assert world.look((1, 0.0)) == ["list", "specifications"]
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]


def a_job_of_a_re_created_schedule_appears(world: ScheduleWorld) -> None:
    world.create("Alpha", "completed")
    world.change("Alpha", recent_job="Alpha:job-1")
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(1)
    world.look()
    world.wait(60)
    assert world.look() == []
    world.delete("Alpha")
    world.create("Alpha")
    world.change("Alpha", recent_job="Alpha:job-1")
    world.wait(60)
    assert world.look() == []
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(60)
    assert world.look() == ["list", "specifications"]
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]


def a_schedule_is_re_created_twice(world: ScheduleWorld) -> None:
    """Each time with a job; in between a poll sees it completed."""
    a_job_of_a_re_created_schedule_appears(world)
    world.change("Alpha", state="completed", next_run_time=None)
    world.wait(60)
    assert world.look()[:1] == ["list"]
    world.wait(1)
    world.delete("Alpha")
    world.create("Alpha")
    world.change("Alpha", recent_job="Alpha:job-1")
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(60)
    assert world.look() == ["list", "specifications"]
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]


def a_job_of_a_re_created_schedule_whose_row_is_garbled(world: ScheduleWorld) -> None:
    world.create("Alpha")
    due = world.now() + timedelta(minutes=1)
    world.change("Alpha", last_modified=world.now() + timedelta(seconds=1), next_run_time=due)
    world.look()
    world.wait(60)
    world.change("Alpha", recent_job="Alpha:job-1", next_run_time=due + timedelta(minutes=1))
    world.look()
    world.wait(60)
    world.delete("Alpha")
    world.create("Alpha")
    world.service.garbled = {"alpha"}
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(60)
    world.look()
    baseline = world.known().resources["alpha"].baseline
    assert baseline
    assert baseline.next_was_due is None


def storage_fails_when_a_job_of_a_re_created_schedule_appears(world: ScheduleWorld, call: int) -> None:
    world.create("Alpha", "completed")
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(1)
    world.look()
    world.wait(60)
    assert world.look() == []
    world.delete("Alpha")
    world.create("Alpha")
    world.jobs = {"Alpha:job-1": world.now()}
    world.wait(60)
    world.look(fault=Fault(call, committed=False, kills=False))
    world.wait(60)
    world.look()
    assert world.known().resources["alpha"].facts == world.service.there["alpha"]


def due_by_states_alone(last: ScheduleRound | None, schedules: Collection[Schedule], *_: Any, **__: Any) -> bool:
    return last is None or any(schedule.is_live for schedule in schedules)


async def once_for_each_schedule(self: ScheduleRounds, heard: Callable[[], Awaitable[Mapping[str, Job]]]) -> bool:
    keys = [(key_of(job.facts.schedule_id or ""), job.facts.creation_time) for job in (await heard()).values()]
    others = {key for key, made in keys if key not in self._existing or (self._as_of and made > self._as_of)}
    news, self._reported = others - self._reported, others  # type: ignore[assignment]  # the bug
    return bool(news)


async def by_ids_alone(self: ScheduleRounds, heard: Callable[[], Awaitable[Mapping[str, Job]]]) -> bool:
    return bool({key_of(job.facts.schedule_id or "") for job in (await heard()).values()} - self._existing)


def test_a_schedule_re_created_since_the_list_is_read_a_round_later_though_the_old_one_was_completed(
    world: ScheduleWorld,
) -> None:
    a_completed_schedule_is_re_created_around_the_list(world)


def test_a_job_of_a_schedule_re_created_under_a_completed_ones_id_calls_for_a_look(world: ScheduleWorld) -> None:
    a_job_of_a_re_created_schedule_appears(world)


def test_each_job_of_a_schedule_re_created_again_calls_for_a_look(world: ScheduleWorld) -> None:
    a_schedule_is_re_created_twice(world)


@pytest.mark.parametrize("call", range(1, 6))
def test_a_job_calls_for_a_look_in_the_next_round_if_storage_failed(world: ScheduleWorld, call: int) -> None:
    storage_fails_when_a_job_of_a_re_created_schedule_appears(world, call)


def test_a_job_of_a_re_created_schedule_with_a_garbled_row_is_not_the_earlier_ones(world: ScheduleWorld) -> None:
    a_job_of_a_re_created_schedule_whose_row_is_garbled(world)


@pytest.mark.parametrize(
    ("bug", "story"),
    [
        ((schedule_rounds, "poll_is_due", due_by_states_alone), a_completed_schedule_is_re_created_around_the_list),
        ((ScheduleRounds, "_finds_unknown_schedules", by_ids_alone), a_job_of_a_re_created_schedule_appears),
        ((ScheduleRounds, "_finds_unknown_schedules", once_for_each_schedule), a_schedule_is_re_created_twice),
        (
            (SchedulesRoundState, "as_of", lambda this, _: this.date),
            a_job_of_a_re_created_schedule_whose_row_is_garbled,
        ),
    ],
)
def test_a_planted_bug_in_when_re_created_schedules_are_read_is_noticed(
    world: ScheduleWorld,
    monkeypatch: pytest.MonkeyPatch,
    bug: tuple[object, str, object],
    story: Callable[[ScheduleWorld], None],
) -> None:
    monkeypatch.setattr(*bug)
    with pytest.raises(AssertionError):
        story(world)


def test_a_schedule_that_is_younger_than_the_list_and_as_of_that_is_noticed(
    world: ScheduleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScheduleRounds, "_look_up", looked_up_at_once)
    with pytest.raises(AssertionError, match="before it was created"):
        a_schedule_is_made_anew_around_the_list(world)


def test_a_schedule_that_is_made_anew_under_its_id_is_another_one(world: ScheduleWorld) -> None:
    world.create("Alpha")
    world.change("Alpha", recent_job="Alpha:job-7")
    world.look()
    world.wait(60)
    world.delete("Alpha")
    world.look()
    world.wait(60)
    world.create("ALPHA")
    world.look(thorough=True)
    (schedule,) = world.known().resources.values()
    assert (schedule.facts.id, schedule.facts.jobs_made, schedule.deleted) == ("ALPHA", 0, False)
    assert schedule.baseline
    assert schedule.baseline.since == schedule.facts.creation_time


def test_a_job_of_a_re_created_schedule_does_not_count_as_the_earlier_ones(world: ScheduleWorld) -> None:
    world.create("Alpha")
    due = world.now() + timedelta(minutes=1)
    world.change("Alpha", last_modified=world.now() + timedelta(seconds=1), next_run_time=due)
    world.look()
    world.wait(60)
    world.change("Alpha", recent_job="Alpha:job-1", next_run_time=due + timedelta(minutes=1))

    def create_anew() -> None:
        world.delete("Alpha")
        world.create("Alpha")
        world.jobs = {"Alpha:job-1": world.now()}

    world.later(4 * 0.8, create_anew)
    world.look((0, 4.0))
    baseline = world.known().resources["alpha"].baseline
    assert baseline
    assert (baseline.made, baseline.next_was_due) == (0, None)
