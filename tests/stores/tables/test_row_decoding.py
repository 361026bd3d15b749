"""Rows of the types that the app writes are decoded as the SDK decodes them; other responses are refused."""

import math
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from azure.data.tables import EdmType, EntityProperty
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.errors import StorageError
from shared.stores.tables.row_decoding import RowReader
from shared.stores.tables.rows import row_of
from shared.stores.tables.tables import Tables, load_row, load_rows, save_row
from tests.stores.tables.stub import Stub

_SECOND = datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)
_EPOCH = datetime.fromisoformat("1970-01-01")
_VALUES: dict[str, Any] = {
    "text": 'ein "Wert" \\ mit\nZeilen, 😀 und Edm.Int64@odata.type',
    "empty": "",
    "number": 2**31 - 1,
    "negative": -(2**31),
    "large": EntityProperty(2**63 - 1, EdmType.INT64),
    "small": EntityProperty(0, EdmType.INT64),
    "half": 0.5,
    "whole": 3.0,
    "huge": 1.7976931348623157e308,
    "nan": math.nan,
    "endless": -math.inf,
    "yes": True,
    "no": False,
    "bytes": bytes(range(256)),
    "none": b"",
    "second": _SECOND,
    "micros": _SECOND.replace(microsecond=1),
    "tenths": _SECOND.replace(microsecond=100_000),
}


def _types(row: dict[str, Any]) -> dict[str, type]:
    return {name: type(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.timetz())
    return value.value if isinstance(value, EntityProperty) else value


async def _by_the_sdk(tables: Tables, partition: str, row: str) -> dict[str, Any]:
    entity = await tables["jobs"].get_entity(partition, row)
    return {**{name: _plain(value) for name, value in entity.items()}, "etag": entity.metadata["etag"]}


async def test_a_row_of_all_types_reads_like_the_sdks_alone_and_in_a_list(tables: Tables, partition: str) -> None:
    await save_row(tables["jobs"], row_of(partition, "row", _VALUES), None)
    expected = await _by_the_sdk(tables, partition, "row")
    assert set(expected) == {"PartitionKey", "RowKey", "etag", *_VALUES}
    assert math.isnan(expected.pop("nan"))
    for found in (await load_row(tables["jobs"], partition, "row"), *await load_rows(tables["jobs"], partition)):
        assert found is not None
        assert math.isnan(found.pop("nan"))
        assert found == expected
        assert _types(found) == _types(expected)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.dictionaries(
        st.sampled_from("abcdefgh"),
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=50),
            st.binary(max_size=50),
            st.integers(-(2**31), 2**31 - 1),
            st.integers(-(2**63), 2**63 - 1).map(lambda number: EntityProperty(number, EdmType.INT64)),
            st.floats(allow_nan=False),
            st.booleans(),
            st.datetimes(min_value=_EPOCH, timezones=st.just(UTC)),
        ),
    )
)
async def test_any_row_reads_like_the_sdks(tables: Tables, partition: str, row: dict[str, Any]) -> None:
    key = f"row{abs(hash(repr(row)))}"
    await save_row(tables["jobs"], row_of(partition, key, row), None)
    found, expected = await load_row(tables["jobs"], partition, key), await _by_the_sdk(tables, partition, key)
    assert found == expected
    assert found
    assert _types(found) == _types(expected)


async def test_columns_that_were_not_selected_are_not_in_a_row(tables: Tables, partition: str) -> None:
    await save_row(tables["jobs"], row_of(partition, "row", _VALUES), None)
    (found,) = await load_rows(tables["jobs"], partition, ["large", "RowKey"])
    assert found == {"large": 2**63 - 1, "RowKey": "row", "etag": found["etag"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        b"{}",
        b"[]",
        b'{"value": 3}',
        b'{"value": ["row"]}',
        b'{"value": [{"RowKey": "no ETag"}]}',
        b'{"value": [{"odata.etag": "1", "at": "yesterday", "at@odata.type": "Edm.DateTime"}]}',
        b'{"value": [{"odata.etag": "1", "packed": 5, "packed@odata.type": "Edm.Binary"}]}',
    ],
)
async def test_a_response_without_valid_rows_is_refused_at_once(stub: Stub, body: bytes) -> None:
    stub.body = body
    tables = stub.tables()
    try:
        with pytest.raises(StorageError, match="the response holds no rows"):
            await load_rows(tables["jobs"], "demo")
        with pytest.raises(StorageError, match="the response holds no rows"):
            await load_row(tables["jobs"], "demo", "row")
    finally:
        await tables.close()
    assert stub.requests == 2


async def test_half_a_surrogate_pair_spoils_no_list(stub: Stub) -> None:
    stub.body = b'{"value": [{"odata.etag": "1", "id": "\\ud800"}]}'
    tables = stub.tables()
    try:
        assert await load_rows(tables["jobs"], "demo") == [{"id": "\ud800", "etag": "1"}]
    finally:
        await tables.close()


def test_an_error_stays_as_it_came() -> None:
    answer = SimpleNamespace(status_code=404)
    response = SimpleNamespace(http_response=answer)
    reader = RowReader(listed=False)
    reader(response)
    assert response.http_response is answer
    assert reader.decode() == []
