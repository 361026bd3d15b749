"""The infrastructure's alert rules match the lines that the app logs."""

import logging
import re

import pytest

from local.batch_emulator.core.injection import Fault
from local.dev.system.checkout import HERE
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World
from tests.infra.rules.scenarios import Infrastructure

pytestmark = pytest.mark.asyncio(loop_scope="session")


def query(name: str) -> str:
    """Returns the query of an alert rule."""
    rules = Infrastructure(HERE.root).everything_on.of("Microsoft.Insights/scheduledQueryRules")
    (rule,) = (rule for rule in rules if rule.name.endswith(f"-{name}"))
    (criterion,) = rule.get("properties.criteria.allOf")
    return str(criterion["query"])


def beats(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Returns the lines that count as a tick for the rule `no-tick`; the app exports no lines below INFO."""
    (beginning,) = re.findall(r'Message startswith "([^"]+)"', query("no-tick"))
    lines = [record for record in caplog.records if record.levelno >= logging.INFO]
    return [line.getMessage() for line in lines if line.getMessage().startswith(beginning)]


def failures(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Returns accounts and kinds of the lines that the rule `failing-polls` counts and groups as failed rounds."""
    found = query("failing-polls")
    (counted,) = re.findall(r'Message matches regex "([^"]+)"', found)
    named = {name: (text, int(group)) for name, text, group in re.findall(r'(\w+) = extract\("([^"]+)", (\d)', found)}
    (grouped,) = re.findall(r"count\(\) by (\w+), (\w+)", found)
    messages = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    first, second = (named[name] for name in grouped)
    return [
        (_extracted(message, *first), _extracted(message, *second))
        for message in messages
        if re.search(counted, message)
    ]


def _extracted(message: str, text: str, group: int) -> str:
    found = re.search(text, message)
    assert found
    return str(found[group])


async def test_a_tick_that_ends_well_is_seen_and_failed_rounds_are_counted(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await world.app.fire("tick")
    assert (len(beats(caplog)), failures(caplog)) == (1, [])
    world.emulator.faults.all.append(Fault(status=403))
    world.advance(600)
    await world.app.fire("tick")
    assert (len(beats(caplog)), sorted(failures(caplog))) == (2, [("demo", "of"), ("demo", "over the pools of")])


async def test_rounds_over_pools_that_fail_alone_are_counted(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.emulator.faults.all.append(Fault(path="/pools", status=403))
    await world.app.fire("tick")
    assert failures(caplog) == [("demo", "over the pools of")]


async def test_a_round_that_breaks_on_a_defect_is_counted_too(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.services.polling.rounds.discover", None)
    await world.poll()
    assert failures(caplog) == [("demo", "of")]


async def test_a_round_over_pools_that_breaks_on_a_defect_is_counted_too(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.services.pools.pool_rounds.first_seen", None)
    await add_pool(world.batch, nodes=0)
    await world.poll()
    assert failures(caplog) == [("demo", "over the pools of")]


@pytest.mark.parametrize("breaks", ["refused", "broken"])
async def test_rounds_over_job_schedules_that_fail_alone_are_counted(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    caplog.set_level(logging.INFO)
    if breaks == "refused":
        world.emulator.faults.all.append(Fault(path="/jobschedules", status=403))
    else:
        monkeypatch.setattr("shared.services.schedules.schedule_rounds.ScheduleRounds._specify", None)
    await world.app.fire("tick")
    assert failures(caplog) == [("demo", "over the job schedules of")]
