"""Messages about jobs that are lost, never sent, or waiting in a long queue."""

import pytest

from tests.services.fakes.memory_tables import Fault
from tests.services.mutants.lost_messages import JOB, a_job_for_the_queue, a_lost_message
from tests.services.worlds.telling import last_round, verdict
from tests.services.worlds.world import World


def test_a_message_that_was_lost_is_sent_again_within_two_intervals(world: World) -> None:
    a_lost_message(world)


@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("call", range(1, 9))
def test_a_job_whose_mark_was_written_without_a_message_waits_for_two_intervals(
    world: World, call: int, *, kills: bool
) -> None:
    a_job_for_the_queue(world)
    world.poll(fault=Fault(call, committed=True, kills=kills), check=False)
    if kills:
        world.messages.clear()
    for _ in range(3):
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert verdict(world, JOB).level != "catchingUp"
    assert not last_round(world).queued


def test_a_message_that_was_sent_again_and_comes_after_all_finds_nothing_to_do(world: World) -> None:
    a_job_for_the_queue(world)
    for _ in range(3):
        world.poll()
        world.wait(61)
    assert len(world.messages) == 2
    world.deliver()
    before = world.processes[0].batch.calls
    world.deliver()
    assert world.processes[0].batch.calls == before
    assert world.messages == []


def test_messages_that_wait_in_a_long_queue_are_sent_again_once_and_then_every_ten_minutes(world: World) -> None:
    a_job_for_the_queue(world)
    for _ in range(60):
        world.poll()
        world.wait(61)
    assert len(world.messages) <= 7


def test_a_job_that_is_being_worked_on_is_left_to_its_worker(world: World) -> None:
    a_job_for_the_queue(world)
    world.poll()
    world.wait(61)
    world.deliver(who=1, budget=1, takes=1)
    world.messages.clear()
    for _ in range(8):
        world.wait(61)
        world.poll()
    assert world.messages == []
