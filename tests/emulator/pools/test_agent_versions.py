"""Nodes keep the version of the node agent that was the newest when they were allocated."""

from collections import Counter

import pytest

from tests.emulator.support.driver import Driver

_NODES = "/pools/pool/nodes"


async def _versions(driver: Driver) -> Counter[str]:
    return Counter(row["nodeAgentInfo"]["version"] for row in await driver.rows(_NODES) if "nodeAgentInfo" in row)


async def test_nodes_after_a_release_have_the_newer_version_and_older_nodes_keep_theirs(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    await stepped.advance(120)
    assert await _versions(stepped) == {"1.12.3": 2}
    await stepped.control("POST", "settings", {"nodeAgentVersion": "1.13.0"})
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 5})
    await stepped.advance(120)
    assert await _versions(stepped) == {"1.12.3": 2, "1.13.0": 3}
    (first, *_) = [row["id"] for row in await stepped.rows(_NODES) if row["nodeAgentInfo"]["version"] == "1.12.3"]
    await stepped.call("POST", f"{_NODES}/{first}/reboot", {})
    await stepped.advance(300)
    assert await _versions(stepped) == {"1.12.3": 2, "1.13.0": 3}
    truth = stepped.emulator.truth()["accounts"]["demo"]["pools"]["pool"]
    assert truth["nodeAgentVersions"] == {"1.12.3": 2, "1.13.0": 3}
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0})
    await stepped.advance(120)
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
    await stepped.advance(120)
    assert await _versions(stepped) == {"1.13.0": 1}


async def test_a_node_that_has_not_booted_has_no_agent(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(8)
    (row,) = await stepped.rows(_NODES)
    assert (row["state"], "nodeAgentInfo" in row) == ("creating", False)
    truth = stepped.emulator.truth()["accounts"]["demo"]["pools"]["pool"]
    assert truth["nodeAgentVersions"] == {}


async def test_an_empty_version_is_refused(stepped: Driver) -> None:
    with pytest.raises(ValueError, match="nodeAgentVersion can't be empty"):
        stepped.emulator.settings.with_changes({"nodeAgentVersion": ""})
