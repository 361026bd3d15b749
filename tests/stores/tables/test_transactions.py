"""Transactions are written and answered as by the SDK, whose own client is beside them on the same storage."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.azurite import StorageAddresses
from shared.errors import CacheConflictError, StorageUnavailableError
from shared.stores.tables.rows import translated
from shared.stores.tables.table_requests import _table_of
from shared.stores.tables.tables import Tables, load_rows
from tests.stores.tables.stub import Stub

_STALE = {"etag": "W/\"datetime'2000-01-01T00%3A00%3A00.0000000Z'\"", "match_condition": MatchConditions.IfNotModified}
_KEYS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\#?"), min_size=1, max_size=20)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_VALUES = st.one_of(_TEXTS, st.binary(max_size=60), st.booleans(), st.integers(-(2**31), 2**31 - 1))


@pytest.fixture
async def service(azurite: StorageAddresses) -> AsyncIterator[TableServiceClient]:
    async with TableServiceClient.from_connection_string(azurite.connection_string) as opened:
        yield opened


@pytest.fixture
def sdk(service: TableServiceClient, prefix: str) -> TableClient:
    """Returns the SDK's own client of the table of nodes."""
    return service.get_table_client(f"{prefix}nodes")


def _row(partition: str, name: str, **columns: Any) -> dict[str, Any]:
    return {"PartitionKey": partition, "RowKey": name, **columns}


async def _stored(table: TableClient, partition: str) -> dict[str, Mapping[str, Any]]:
    rows = await load_rows(table, partition)
    return {row["RowKey"]: {name: value for name, value in row.items() if name not in ("etag", "PartitionKey")}
            for row in rows}  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(rows=st.dictionaries(_KEYS, st.dictionaries(st.sampled_from("abcd"), _VALUES), min_size=1, max_size=6))
async def test_rows_of_any_text_are_stored_as_the_sdk_stores_them(
    tables: Tables, sdk: TableClient, rows: dict[str, dict[str, Any]]
) -> None:
    ours, theirs = (f"p'{secrets.token_hex(6)} é" for _ in range(2))
    for table, partition in ((tables["nodes"], ours), (sdk, theirs)):
        await table.submit_transaction([("create", _row(partition, key, **some)) for key, some in rows.items()])
        changed = [("upsert", _row(partition, key, more=1), {"mode": UpdateMode.MERGE}) for key in rows]
        await table.submit_transaction(changed)
    found = await _stored(tables["nodes"], ours)
    assert found == await _stored(tables["nodes"], theirs)
    assert found.keys() == rows.keys()


async def _error(table: TableClient, operations: Sequence[Any]) -> HttpResponseError:
    with pytest.raises(HttpResponseError) as caught:
        await table.submit_transaction(operations)
    return caught.value


_FAILING: dict[str, Any] = {
    "a row that exists": lambda partition: ("create", _row(partition, "old")),
    "an ETag of before": lambda partition: ("update", _row(partition, "old"), {"mode": UpdateMode.REPLACE, **_STALE}),
    "a row that is gone": lambda partition: ("delete", _row(partition, "gone"), _STALE),
}


@pytest.mark.parametrize("kind", _FAILING)
async def test_an_operation_that_fails_is_the_same_error_and_nothing_is_written(
    tables: Tables, sdk: TableClient, partition: str, kind: str
) -> None:
    await sdk.upsert_entity(_row(partition, "old"))
    operations = [("upsert", _row(partition, "new")), _FAILING[kind](partition)]
    mine, other = await _error(tables["nodes"], operations), await _error(sdk, operations)
    assert mine.status_code == other.status_code
    assert mine.message.split("RequestId")[0] == other.message.split("RequestId")[0]
    assert (await _stored(sdk, partition)).keys() == {"old"}


async def test_a_table_that_is_not_there_is_the_same_error(
    tables: Tables, service: TableServiceClient, prefix: str, partition: str
) -> None:
    operations = [("create", _row(partition, "new"))]
    mine = await _error(tables["missing"], operations)
    other = await _error(service.get_table_client(f"{prefix}missing"), operations)
    assert (mine.status_code, "TableNotFound" in mine.message) == (other.status_code, True)


@pytest.mark.parametrize("query", ["", "?sv=2019-02-02&sig=a%2Fb"])
def test_the_table_of_a_transaction_is_known_with_a_sas_too(query: str) -> None:
    content = b"--b\r\n\r\nPOST https://a.table.core.windows.net/nodes" + query.encode() + b" HTTP/1.1\r\n\r\n{}"
    request = HttpRequest("POST", f"https://a.table.core.windows.net/$batch{query}", content=content)
    assert _table_of(request) == "nodes"


async def test_writes_are_counted_for_the_table_of_their_transaction(tables: Tables, partition: str) -> None:
    before = tables.writes(["nodes"]), tables.writes(["jobs"])
    await tables["nodes"].submit_transaction([("create", _row(partition, "a")), ("create", _row(partition, "b"))])
    assert (tables.writes(["nodes"]), tables.writes(["jobs"])) == (before[0] + 1, before[1])


_PART = b"--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\nETag: 1\r\n\r\n\r\n"
_HEAD = b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        _HEAD,
        _HEAD + _PART,
        _HEAD + b"--c\r\n\r\nno status\r\n\r\n--c--",
        _HEAD + _PART * 2,
        _HEAD + _PART * 3 + b"--c--\r\n--b--\r\n",
    ],
)
async def test_an_answer_without_each_operations_is_refused(stub: Stub, body: bytes) -> None:
    stub.status, stub.body = 202, body
    tables = stub.tables()
    try:
        with pytest.raises(StorageUnavailableError, match="can't be read"), translated("write nodes"):
            await tables["nodes"].submit_transaction([("create", _row("p", "a")), ("create", _row("p", "b"))])
    finally:
        await tables.close()


async def test_an_answer_in_words_only_names_them(stub: Stub) -> None:
    stub.status, stub.body = 412, b"<html>changed</html>"
    tables = stub.tables()
    try:
        with pytest.raises(CacheConflictError), translated("write nodes"):
            await tables["nodes"].submit_transaction([("create", _row("p", "a"))])
    finally:
        await tables.close()
