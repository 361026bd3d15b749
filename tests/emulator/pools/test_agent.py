"""Extensions of nodes, and uploads of their logs."""

from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_EXTENSION = {
    "name": "secretext",
    "publisher": "Microsoft.Azure.KeyVault",
    "type": "KeyVaultForLinux",
    "typeHandlerVersion": "1.0",
    "autoUpgradeMinorVersion": True,
    "settings": {"pollingIntervalInS": "3600"},
    "protectedSettings": {"password": "x"},
}


async def _node(driver: Driver, **machine: Any) -> str:
    await driver.add_pool(nodes=1, virtualMachineConfiguration=machine)
    await driver.advance(90)
    return f"/pools/pool/nodes/{(await driver.rows('/pools/pool/nodes'))[0]['id']}"


async def test_a_node_has_the_pools_extensions_and_then_the_services_own(stepped: Driver) -> None:
    url = await _node(stepped, extensions=[_EXTENSION])
    rows = await stepped.rows(f"{url}/extensions", maxresults=1)
    assert [row["vmExtension"]["name"] for row in rows] == ["secretext", "batchNodeExtension"]
    assert rows[0]["provisioningState"] == "Succeeded"
    assert rows[0]["instanceView"]["statuses"][0]["code"] == "ProvisioningState/succeeded"
    shown = {name: value for name, value in _EXTENSION.items() if name != "protectedSettings"}
    assert rows[0]["vmExtension"] == shown
    one = (await stepped.call("GET", f"{url}/extensions/SecretExt", _select="vmExtension")).body
    assert (set(one), one["vmExtension"]) == ({"odata.metadata", "vmExtension"}, shown)
    assert (await stepped.call("GET", f"{url}/extensions/other")).status == 404


async def test_a_windows_nodes_own_extension_is_another(stepped: Driver) -> None:
    url = await _node(stepped, nodeAgentSKUId="batch.node.windows amd64")
    assert (await stepped.rows(f"{url}/extensions"))[0]["vmExtension"]["type"] == "CustomScriptExtension"


@pytest.mark.parametrize("name", ["name", "publisher", "type"])
async def test_an_incomplete_extension_is_refused(stepped: Driver, name: str) -> None:
    machine = {"extensions": [{each: value for each, value in _EXTENSION.items() if each != name}]}
    answer = await stepped.call("POST", "/pools", {"id": "p", "vmSize": "s", "virtualMachineConfiguration": machine})
    assert (answer.status, answer.code) == (400, "MissingRequiredProperty")


async def _upload(driver: Driver, url: str, **body: Any) -> Any:
    sent = {"containerUrl": "https://a.blob.core.windows.net/c", "startTime": "2026-01-05T08:00:00Z", **body}
    return await driver.call("POST", f"{url}/uploadbatchservicelogs", sent)


async def test_logs_of_a_time_are_said_to_be_uploaded_to_a_directory_of_their_own(stepped: Driver) -> None:
    url = await _node(stepped)
    _, _, pool, _, node = url.split("/")
    first, second = await _upload(stepped, url), await _upload(stepped, url)
    assert first.status == 200
    assert first.body["virtualDirectoryName"].startswith(f"{pool}/{node}/")
    assert first.body["virtualDirectoryName"] != second.body["virtualDirectoryName"]
    assert first.body["numberOfFilesUploaded"] == 2
    await stepped.advance(3 * 3600)
    assert (await _upload(stepped, url)).body["numberOfFilesUploaded"] == 8
    short = await _upload(stepped, url, startTime="2026-01-05T09:05:00Z", endTime="2026-01-05T09:06:00Z")
    assert short.body["numberOfFilesUploaded"] == 2
    assert (await _upload(stepped, url, startTime="2026-02-01T00:00:00Z")).body["numberOfFilesUploaded"] == 0
    early = await _upload(stepped, url, startTime="2025-01-01T00:00:00Z", endTime="2025-01-02T00:00:00Z")
    assert early.body["numberOfFilesUploaded"] == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"containerUrl": ""}, "MissingRequiredProperty"),
        ({"containerUrl": "container"}, "InvalidPropertyValue"),
        ({"startTime": "yesterday"}, "InvalidPropertyValue"),
        ({"startTime": None}, "MissingRequiredProperty"),
        ({"endTime": "2026-01-04T00:00:00Z"}, "InvalidPropertyValue"),
        ({"colour": "red"}, "UnsupportedProperty"),
    ],
)
async def test_a_wrong_upload_is_refused(stepped: Driver, body: dict[str, Any], code: str) -> None:
    answer = await _upload(stepped, await _node(stepped), **body)
    assert (answer.status, answer.code) == (400, code)


async def test_a_node_that_is_not_there_yet_uploads_nothing(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(10)
    node = (await stepped.rows("/pools/pool/nodes"))[0]["id"]
    answer = await _upload(stepped, f"/pools/pool/nodes/{node}")
    assert (answer.status, answer.code) == (409, "NodeBeingCreated")
