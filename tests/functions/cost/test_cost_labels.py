"""Costs by metadata of jobs and pools and by tags of the account: values of allowed names only, as of their day."""

from typing import Any

import pytest
from azure.batch import models

from local.batch_emulator.core.stamps import SECOND, stamp
from tests.emulator.support.staging import add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND


def _items(**values: str) -> list[models.BatchMetadataItem]:
    return [models.BatchMetadataItem(name=name, value=value) for name, value in values.items()]


async def _stage(world: World) -> None:
    """Runs a job with a team and one without on a pool with another team, for half an hour."""
    for _ in range(2):  # pools of earlier tests, their ledgers and their days are long gone then
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
        world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    await world.app.fire("tick")
    settings = world.emulator.settings
    settings.copy_from(settings.with_changes({"accountTags": "team=studio secret=hunter2"}))
    image = models.BatchVmImageReference(publisher="canonical", offer="jammy", sku="22_04-lts")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 22.04")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="labelled", vm_size="standard_d4as_v5", virtual_machine_configuration=machine, target_dedicated_nodes=2,
            metadata=_items(team="pool-team", other="hidden-pool"),
        )
    )  # fmt: skip
    for job, values in (("named", {"team": "film", "other": "hidden-job"}), ("unnamed", {})):
        where = models.BatchPoolInfo(pool_id="labelled")
        await world.batch.create_job(
            models.BatchJobCreateOptions(id=f"{job}-job", pool_info=where, metadata=_items(**values))
        )
        await add_tasks(world.batch, 1, job=f"{job}-job", command="sleep 1200")
    for _ in range(30):
        world.advance(60)
        await world.app.fire("tick")
    for _ in range(2):  # tags that the first one reads reach the day with the second
        await world.app.fire("housekeeping")


async def _groups(world: World, group_by: str) -> dict[str, Any]:
    since = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    answer = await world.get(f"accounts/demo/cost?from={since}&sharing=none&groupBy={group_by}")
    assert answer.status == 200, answer.body
    assert answer.body["groupBy"] == group_by
    return {group["name"]: group["cost"] for group in answer.body["value"]}


async def test_costs_are_grouped_by_metadata_and_tags_of_allowed_names(world: World) -> None:
    await _stage(world)
    teams = await _groups(world, "metadata:team")
    assert set(teams) == {"film", "pool-team"}
    assert teams["film"]["nodeSeconds"] == pytest.approx({"succeeded": 1200}, rel=0.02)
    assert teams["pool-team"]["nodeSeconds"]["succeeded"] == pytest.approx(1200, rel=0.02)
    whole = (await _groups(world, "pool"))["labelled"]["amount"]
    assert sum(one["amount"] for one in teams.values()) == pytest.approx(whole, abs=3e-6)
    assert (await world.get("accounts/demo/cost")).body["labels"] == ["team"]
    tags = await _groups(world, "tag:team")
    assert {name: one["amount"] for name, one in tags.items()} == pytest.approx({"studio": whole}, abs=3e-6)
    await world.batch.begin_delete_job("named-job")
    for _ in range(5):
        world.advance(60)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")
    assert "film" in await _groups(world, "metadata:team")


@pytest.mark.parametrize("group_by", ["metadata:other", "tag:secret"])
async def test_other_names_are_refused_as_their_values_are_not_kept(world: World, group_by: str) -> None:
    answer = await world.get(f"accounts/demo/cost?groupBy={group_by}")
    assert (answer.status, answer.body["error"]["target"]) == (400, "groupBy")
    assert "name it in COST_LABELS" in answer.body["error"]["message"]


@pytest.mark.parametrize("group_by", ["metadata:", "label:team", "metadata", "pool%0A", "Pool"])
async def test_groupings_of_another_form_are_refused_with_the_choices(world: World, group_by: str) -> None:
    answer = await world.get(f"accounts/demo/cost?groupBy={group_by}")
    assert (answer.status, answer.body["error"]["target"]) == (400, "groupBy")
    assert (
        "one of pool, job, schedule, vmSize, class, day, metadata:NAME or tag:NAME" in answer.body["error"]["message"]
    )


async def test_metadata_has_no_hours(world: World) -> None:
    answer = await world.get("accounts/demo/cost?groupBy=metadata:team&step=PT1H")
    assert (answer.status, answer.body["error"]["target"]) == (400, "step")
