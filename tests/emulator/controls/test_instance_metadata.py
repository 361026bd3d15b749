"""The instance metadata service of the node that this machine plays, as Azure's VMs know it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_AGENT = [{"name": "telemetry", "value": "agent"}]
_HEADER = {"Metadata": "true"}
_VERSION = "api-version=2021-02-01"


async def _asked(
    driver: Driver, path: str, *, headers: Mapping[str, str] = _HEADER, method: str = "GET"
) -> tuple[int, Any]:
    async with driver.session.request(method, f"{driver.url}/metadata/{path}", headers=headers) as response:
        return response.status, await response.json()


async def _with_node(driver: Driver) -> str:
    await driver.add_pool(nodes=1, metadata=_AGENT)
    await driver.advance(120)
    ((node,),) = [(await driver.call("GET", "/pools/pool/nodes")).body["value"]]
    return str(node["id"])


async def test_the_instance_is_the_node_of_a_pool_with_an_agent(stepped: Driver) -> None:
    assert (await _asked(stepped, f"instance?{_VERSION}"))[0] == 404
    await _with_node(stepped)
    status, found = await _asked(stepped, f"instance?{_VERSION}")
    assert (status, found["compute"]["vmSize"], found["compute"]["osType"]) == (200, "standard_d2s_v5", "Linux")
    (interface,) = found["network"]["interface"]
    assert interface["ipv4"]["ipAddress"][0]["privateIpAddress"].startswith("10.")


async def test_a_token_names_the_resource_that_it_is_for(stepped: Driver) -> None:
    await _with_node(stepped)
    path = f"identity/oauth2/token?{_VERSION}"
    status, token = await _asked(stepped, f"{path}&resource=https://storage.azure.com/")
    assert (status, token["resource"], token["token_type"]) == (200, "https://storage.azure.com/", "Bearer")
    assert (await _asked(stepped, path))[0] == 400


async def test_scheduled_events_name_the_vm_and_their_version_counts_up(stepped: Driver) -> None:
    await _with_node(stepped)
    _, before = await _asked(stepped, f"scheduledevents?{_VERSION}")
    assert before == {"DocumentIncarnation": 1, "Events": []}
    await stepped.control("POST", "scheduledEvents", {"type": "Preempt", "seconds": 30})
    _, instance = await _asked(stepped, f"instance?{_VERSION}")
    _, after = await _asked(stepped, f"scheduledevents?{_VERSION}")
    (event,) = after["Events"]
    assert (after["DocumentIncarnation"], event["EventType"], event["Resources"]) == (
        2, "Preempt", [instance["compute"]["name"]],
    )  # fmt: skip
    assert event["NotBefore"] == "Mon, 05 Jan 2026 08:02:30 GMT"
    await stepped.control("POST", "reset")
    assert stepped.emulator.scheduled_events.events == []


async def test_an_event_stays_that_of_its_vm_when_another_node_takes_its_place(stepped: Driver) -> None:
    early = await stepped.try_control("POST", "scheduledEvents", {"type": "Preempt"})
    assert (early.status, early.body["error"]) == (409, "This machine plays no node that has booted.")
    await _with_node(stepped)
    await stepped.control("POST", "scheduledEvents", {"type": "Preempt"})
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0})
    await stepped.advance(120)
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
    await stepped.advance(120)
    _, instance = await _asked(stepped, f"instance?{_VERSION}")
    _, found = await _asked(stepped, f"scheduledevents?{_VERSION}")
    (event,) = found["Events"]
    assert instance["compute"]["name"].startswith("pool_")
    assert event["Resources"] != [instance["compute"]["name"]]


@pytest.mark.parametrize(
    "body", [{"type": "Party"}, {"type": "Reboot", "seconds": -1}, {"type": "Reboot", "seconds": "1"}]
)
async def test_events_that_make_no_sense_are_refused(stepped: Driver, body: dict[str, Any]) -> None:
    answer = await stepped.try_control("POST", "scheduledEvents", body)
    assert (answer.status, list(answer.body)) == (400, ["error"])


@pytest.mark.parametrize(
    ("path", "headers", "method", "status"),
    [
        (f"instance?{_VERSION}", {}, "GET", 400),
        ("instance", _HEADER, "GET", 400),
        (f"nothing?{_VERSION}", _HEADER, "GET", 404),
        (f"instance?{_VERSION}", _HEADER, "POST", 404),
    ],
)
async def test_requests_that_the_service_refuses_are_refused(
    stepped: Driver, path: str, headers: dict[str, str], method: str, status: int
) -> None:
    await _with_node(stepped)
    assert (await _asked(stepped, path, headers=headers, method=method))[0] == status


async def test_the_emulator_samples_no_nodes_that_have_an_agent(stepped: Driver) -> None:
    stepped.emulator.sample_nodes(5)
    await _with_node(stepped)
    sampler = stepped.emulator.samplers["demo"]
    assert sampler.drain() == []
    await stepped.add_pool("other", nodes=1)
    await stepped.advance(120)
    assert {sample.session.pool for sample in sampler.drain()} == {"other"}
