"""Rows that became invalid, at moments that real storage can't be brought to: everything else continues."""

import asyncio

from tests.services.fakes.truth import RUNNING
from tests.services.worlds.spoiling import spoil
from tests.services.worlds.telling import last_round, polled_for_a_while, verdict
from tests.services.worlds.world import SECOND, World


def test_a_job_that_another_process_makes_unreadable_while_it_is_looked_up_spoils_nothing_else(world: World) -> None:
    gone, _ = world.create("Render", "a"), world.create("Encode", "a")
    polled_for_a_while(world)
    gone.deleted = world.now() + SECOND
    world.wait(61)
    world.processes[0].batch.latency = 10

    async def spoil_meanwhile() -> None:
        await asyncio.sleep(12)
        spoil(world, "jobs", "demo", "render", source="unheard-of")

    async def poll() -> None:
        await asyncio.gather(world.processes[0].poll(full=True), spoil_meanwhile())

    world.run(poll())
    assert last_round(world).reason is None
    assert verdict(world, "Encode").level == "exact"


def test_a_damaged_summary_holds_up_no_job_and_costs_nothing_until_its_leaf_changes(world: World) -> None:
    job = world.create("Render", *"abc")
    polled_for_a_while(world)
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    spoil(world, "tasks", f"demo~render~{snapshot.generation}", "s", summary=b"znonsense")
    world.processes = [world.started(), world.started()]
    world.wait(61)
    world.run(world.processes[0].poll(full=True))
    assert verdict(world, "Render").level == "exact"
    world.storage.writes.clear()
    world.processes = [world.started(), world.started()]
    world.wait(61)
    world.run(world.processes[0].poll(full=True))
    assert "tasks" not in world.storage.writes
    job.change("a", RUNNING, at=world.now(), lag=0 * SECOND, skew=0 * SECOND)
    world.wait(61)
    world.poll()
    after = world.report("Render").job.snapshot
    assert after
    assert after.statistics
    assert (after.counts.running, verdict(world, "Render").level) == (1, "exact")
