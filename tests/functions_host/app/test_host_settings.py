import json
from datetime import timedelta
from pathlib import Path

import pytest

from local.functions_host.app.errors import ConfigurationError
from local.functions_host.app.settings import (
    HostOptions,
    QueueOptions,
    fill,
    is_loopback,
    load_host_json,
    load_local_settings,
    parse_host_json,
    resolve,
    time_span,
)
from local.functions_host.app.storage import find_connection


def test_an_empty_host_json_gives_the_defaults_of_azure() -> None:
    assert parse_host_json({"version": "2.0"}, {}) == HostOptions()


def test_host_json_is_read_without_regard_to_case_and_settings_lie_over_it() -> None:
    content = {
        "functionTimeout": "00:01:00",
        "extensions": {"http": {"routePrefix": "/v1/"}, "Queues": {"batchSize": 1, "newBatchThreshold": 0}},
    }
    options = parse_host_json(content, {"AzureFunctionsJobHost__extensions__queues__maxDequeueCount": "2"})
    assert options == HostOptions(
        route_prefix="v1",
        function_timeout=timedelta(minutes=1),
        queues=QueueOptions(batch_size=1, new_batch_threshold=0, max_dequeue_count=2),
    )


def test_a_timeout_of_minus_one_is_unbounded() -> None:
    assert parse_host_json({"functionTimeout": "-1"}, {}).function_timeout is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"functionTimeout": "soon"}, "functionTimeout: 'soon' isn't a time span"),
        ({"extensions": {"queues": {"batchSize": 33}}}, "batchSize must be a whole number from 1 to 32"),
        ({"extensions": {"queues": {"messageEncoding": "hex"}}}, "messageEncoding must be base64 or none"),
        ({"extensions": {"queues": {"visibilityTimeout": 5}}}, "visibilityTimeout: '5' isn't a time span"),
    ],
)
def test_a_wrong_value_in_host_json_is_refused_by_name(content: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_host_json(content, {})


def test_a_missing_or_broken_host_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no host\.json"):
        load_host_json(tmp_path, {})
    (tmp_path / "host.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"host\.json isn't valid JSON"):
        load_host_json(tmp_path, {})


def test_the_environment_overrides_local_settings(tmp_path: Path) -> None:
    (tmp_path / "local.settings.json").write_text(json.dumps({"Values": {"A": "file", "B": 2}}))
    environment = {"A": "shell"}
    load_local_settings(tmp_path, environment)
    assert environment == {"A": "shell", "B": "2"}


def test_encrypted_local_settings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "local.settings.json").write_text(json.dumps({"IsEncrypted": True}))
    with pytest.raises(ConfigurationError, match="encrypted"):
        load_local_settings(tmp_path, {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00:05:00", timedelta(minutes=5)),
        ("1.02:03:04.5", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("01:30", timedelta(hours=1, minutes=30)),
    ],
)
def test_a_time_span_is_read_as_dotnet_does(text: str, expected: timedelta) -> None:
    assert time_span(text) == expected


def test_settings_and_trigger_values_are_put_into_names() -> None:
    assert resolve("a-%B%-c", {"B": "b"}) == "a-b-c"
    assert fill("out-{id}", {"id": "7"}) == "out-7"
    assert len(fill("{rand-guid}", {})) == 36
    with pytest.raises(LookupError, match="%NONE%"):
        resolve("%NONE%", {})
    with pytest.raises(LookupError, match="nothing"):
        fill("{nothing}", {})


def test_a_connection_is_a_string_or_an_address() -> None:
    assert "127.0.0.1" in str(find_connection({"X": "UseDevelopmentStorage=true"}, "X", "queue").connection_string)
    by_name = find_connection({"X__accountName": "acc"}, "X", "queue")
    assert by_name.account_url == "https://acc.queue.core.windows.net"
    by_uri = find_connection({"X__blobServiceUri": "https://b"}, "X", "blob")
    assert by_uri.account_url == "https://b"
    with pytest.raises(ConfigurationError, match="X is missing"):
        find_connection({}, "X", "blob")
    with pytest.raises(ConfigurationError, match="isn't a storage connection string"):
        find_connection({"X": "nonsense"}, "X", "blob")


@pytest.mark.parametrize(
    ("address", "is_ours"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("host", False)],  # noqa: S104 - nothing listens here
)
def test_only_loopback_addresses_count_as_this_machine(address: str, *, is_ours: bool) -> None:
    assert is_loopback(address) == is_ours
