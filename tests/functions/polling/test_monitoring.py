"""Switching accounts off and on, and setting their poll rate, through the API."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import ROOT, World

pytestmark = pytest.mark.asyncio(loop_scope="session")
HERE = "accounts/demo/monitoring"


def calls(world: World) -> int:
    return sum(found["requests"] for found in world.emulator.counters.values())


async def test_an_account_is_switched_off_and_on_at_run_time(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 5)
    await world.poll()
    off = await world.put(HERE, b'{"enabled": false}')
    assert off.status == 200
    assert off.body == {"enabled": False, "pollSeconds": 60.0, "changedAt": off.body["changedAt"]}
    assert off.body["changedAt"][:19] == stamp(world.emulator.clock.now)[:19]
    before = calls(world)
    world.advance(3600)
    await world.app.fire("tick")
    assert calls(world) == before
    verdict = (await world.jobs())["job"]["verdict"]
    since = off.body["changedAt"][:19].replace("T", " ")
    assert (verdict["level"], verdict["reason"]) == (
        "stale", f"Monitoring of this account is switched off since {since} UTC.",
    )  # fmt: skip
    assert (await world.put(HERE, b'{"enabled": true}')).body["enabled"] is True
    await world.app.fire("tick")
    assert (await world.jobs())["job"]["verdict"]["level"] == "exact"


async def test_accounts_show_their_monitoring(world: World) -> None:
    put = (await world.put(HERE, b'{"enabled": false, "pollSeconds": 300}')).body
    assert (await world.get(HERE)).body == put
    account = (await world.get("accounts/demo")).body
    assert account["monitoring"] == put
    assert (account["enabled"], account["pollSeconds"]) == (False, 300.0)
    assert (await world.get("accounts")).body["value"] == [account]


async def test_an_account_is_polled_at_the_rate_it_was_given(world: World) -> None:
    await add_job(world.batch)
    await world.app.fire("tick")
    await world.put(HERE, b'{"pollSeconds": 300}')
    for seconds, polled in ((200, False), (100, True)):
        world.advance(seconds)
        before = calls(world)
        await world.app.fire("tick")
        assert (calls(world) > before) is polled
    await world.put(HERE, b'{"pollSeconds": null}')
    assert (await world.get(HERE)).body["pollSeconds"] == 60.0


@pytest.mark.parametrize("query", ["", "?wait=true"])
async def test_a_poll_on_demand_of_an_account_that_is_off_says_how_to_switch_it_on(world: World, query: str) -> None:
    await world.put(HERE, b'{"enabled": false}')
    refused = await world.post(f"accounts/demo/poll{query}", b'{"all": true}')
    assert (refused.status, refused.body["error"]["code"]) == (409, "MonitoringOff")
    message = refused.body["error"]["message"]
    assert "switched off since" in message
    assert 'PUT /api/accounts/demo/monitoring {"enabled": true}' in message


@pytest.mark.parametrize(
    ("body", "target", "words"),
    [
        (b"not json", "body", "isn't JSON"),
        (b"[]", "body", "object"),
        (b"{}", "body", "Say what to change"),
        (b"", "body", "Say what to change"),
        (b'{"enabled": null}', "enabled", "true or false"),
        (b'{"enabled": "yes"}', "enabled", "true or false"),
        (b'{"enabled": 1}', "enabled", "true or false"),
        (b'{"pollSeconds": 0}', "pollSeconds", "a whole number from 1 to 86400"),
        (b'{"pollSeconds": 86401}', "pollSeconds", "a whole number from 1 to 86400"),
        (b'{"pollSeconds": 1.5}', "pollSeconds", "a whole number from 1 to 86400"),
        (b'{"pollSeconds": "60"}', "pollSeconds", "a whole number from 1 to 86400"),
        (b'{"enabled": true, "poll_seconds": 60}', "poll_seconds", "There is no field 'poll_seconds'"),
    ],
)
async def test_a_bad_change_gets_a_specific_error(world: World, body: bytes, target: str, words: str) -> None:
    before = (await world.get(HERE)).body
    answer = await world.put(HERE, body)
    assert (answer.status, answer.body["error"]["target"]) == (400, target)
    assert words in answer.body["error"]["message"]
    assert (await world.get(HERE)).body == before


async def test_the_monitoring_of_an_account_that_is_not_there_is_a_404(world: World) -> None:
    assert (await world.get("accounts/nobody/monitoring")).status == 404
    assert (await world.put("accounts/nobody/monitoring", b'{"enabled": false}')).status == 404


async def test_an_account_that_is_switched_off_is_no_problem_of_health(world: World) -> None:
    await world.poll()
    await world.put(HERE, b'{"enabled": false}')
    world.advance(86_400)
    assert (await world.get("health")).body == {"status": "healthy", "lastPollAgeSeconds": None, "problems": []}


async def test_metrics_show_whether_an_account_is_watched(world: World) -> None:
    assert 'azbatch_collector_enabled{account="demo"} 1.0' in (await world.get("metrics")).body.splitlines()
    await world.put(HERE, b'{"enabled": false}')
    assert 'azbatch_collector_enabled{account="demo"} 0.0' in (await world.get("metrics")).body.splitlines()


async def test_openapi_describes_monitoring_changes(world: World) -> None:
    document = (await world.get("openapi.json")).body
    assert {"get", "put"} == document["paths"]["/api/accounts/{account}/monitoring"].keys()
    request = document["components"]["schemas"]["MonitoringRequest"]
    assert request["properties"]["enabled"] == {"type": "boolean"}
    rate = request["properties"]["pollSeconds"]["anyOf"]
    assert {"type": "null"} in rate
    assert any((option.get("minimum"), option.get("maximum")) == (1, 86_400) for option in rate)


async def test_a_name_that_two_accounts_share_is_answered_with_both(azurite: StorageAddresses, tmp_path: Path) -> None:
    script = tmp_path / "names.py"
    script.write_text(
        "import asyncio, os, pathlib, sys\n"
        "from local.functions_host.in_process import InProcessApp\n"
        "async def main():\n"
        "    async with InProcessApp(pathlib.Path(sys.argv[1]), os.environ) as app:\n"
        "        for path in sys.argv[2:]:\n"
        "            reply = await app.request('GET', '/api/accounts' + path)\n"
        "            print(int(reply.status), reply.body.decode())\n"
        "asyncio.run(main())\n"
    )
    names = [f"https://same.{region}.batch.azure.com" for region in ("westeurope", "northeurope")]
    settings = {
        "PYTHONPATH": str(ROOT),
        "BATCH_ACCOUNTS": " ".join(names),
        "AzureWebJobsStorage": azurite.connection_string,
        "TABLE_PREFIX": "samename",
        "BATCH_ACCOUNT_KEYS": "",
        "CLOCK_URL": "",
        "PRICE_REGIONS": "",
        "BATCH_ACCOUNT_IDS": "",
    }
    paths = ("", "/same.westeurope", "/Same", "/same/jobs")
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(script), str(ROOT), *paths, env={**os.environ, **settings}, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await asyncio.wait_for(program.communicate(), 60)
    answers = [line.split(" ", 1) for line in printed.decode().splitlines()]
    assert [status for status, _ in answers] == ["200", "200", "404", "404"]
    assert [account["id"] for account in json.loads(answers[0][1])["value"]] == ["same.northeurope", "same.westeurope"]
    for _, body in answers[2:]:
        error = json.loads(body)["error"]
        assert error["code"] == "AccountNotFound"
        assert "shared by same.northeurope and same.westeurope, so say which one" in error["message"]
