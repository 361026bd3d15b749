"""Times with any UTC offset denote the same instants in every route that accepts a range."""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlencode

import pytest

from local.batch_emulator.core.stamps import stamp
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
ZONES = [timezone(timedelta(hours=2)), timezone(-timedelta(hours=9, minutes=30)), timezone(timedelta(hours=14))]


async def asked(world: World, path: str, since: datetime, until: datetime, more: Mapping[str, str]) -> Any:
    query = urlencode({"from": since.isoformat(), "to": until.isoformat(), **more})
    answer = await world.get(f"{path}?{query}")
    assert answer.status == 200, answer.body
    return answer.body


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("accounts/demo/jobs/zoned/history", {"step": "PT1M"}),
        ("accounts/demo/pools/pool/history", {"step": "PT1M"}),
        ("accounts/demo/jobs/zoned/timeline", {}),
    ],
)
async def test_a_range_is_the_same_in_every_zone(world: World, path: str, more: Mapping[str, str]) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch, "zoned")
    await add_tasks(world.batch, 20, job="zoned", command="sleep 50")
    for _ in range(8):
        world.advance(60)
        await world.poll()
    now = datetime.fromisoformat(stamp(world.emulator.clock.now)).replace(second=0, microsecond=0)
    since, until = now - timedelta(minutes=5), now - timedelta(minutes=2)
    answer = await asked(world, path, since, until, more)
    assert (datetime.fromisoformat(answer["from"]), datetime.fromisoformat(answer["to"])) == (since, until)
    assert any(point["asOf"] for point in answer["value"]) if "value" in answer else answer["nodes"]
    for zone in ZONES:
        assert await asked(world, path, since.astimezone(zone), until.astimezone(zone), more) == answer
    wider = await asked(world, path, since - timedelta(hours=2), until, more)
    assert wider != answer
