"""Settings of the agent, and the sentence for each that makes no sense."""

import pytest

from agent.settings import SettingsError, settings_of
from agent.tasks.identity import TaskIdentity

BATCH = {
    "AZ_BATCH_ACCOUNT_NAME": "demo",
    "AZ_BATCH_POOL_ID": "render",
    "AZ_BATCH_NODE_ID": "tvmps_1",
    "AZ_BATCH_NODE_SHARED_DIR": "/mnt/batch/tasks/shared",
}
STORAGE = "https://logs.blob.core.windows.net/telemetry"


def test_batch_names_the_node_and_an_option_the_storage() -> None:
    found = settings_of({"storage": STORAGE}, BATCH)
    assert (found.container, found.sas, found.task) == (STORAGE, "", None)
    assert found.prefix == "accounts/demo/pools/render/nodes/tvmps_1/agent"
    assert found.folder == "/mnt/batch/tasks/shared/batchscope-agent"
    assert (found.interval, found.flush) == (10.0, 120.0)


def test_a_signature_is_apart_from_the_address() -> None:
    found = settings_of({}, {**BATCH, "BATCHSCOPE_STORAGE": f"{STORAGE}/?sv=2024&sig=x%3D"})
    assert (found.container, found.sas) == (STORAGE, "sv=2024&sig=x%3D")


def test_options_precede_the_environment() -> None:
    found = settings_of(
        {"storage": STORAGE, "pool": "mine", "flush": "30"}, {**BATCH, "BATCHSCOPE_STORAGE": "nonsense"}
    )
    assert (found.pool, found.flush) == ("mine", 30.0)


def test_within_a_task_the_task_is_known() -> None:
    found = settings_of({"storage": STORAGE}, {**BATCH, "AZ_BATCH_JOB_ID": "night", "AZ_BATCH_TASK_ID": "t1"})
    assert found.task == TaskIdentity("night", "t1")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "nowhere to send telemetry"),
        ({"storage": "https://logs.blob.core.windows.net"}, "isn't that of a blob container"),
        ({"storage": "logs/telemetry"}, "isn't that of a blob container"),
        ({"storage": "http://logs.example/telemetry"}, "use https"),
        ({"storage": "https://a:b@logs.example/telemetry"}, "user or password"),
        ({"storage": "https://[logs/telemetry"}, "isn't that of a blob container"),
        ({"storage": "https://logs.example:port/telemetry"}, "isn't that of a blob container"),
        ({"storage": f"{STORAGE}?sig=x"}, "must not stand in the command line"),
        ({"storage": STORAGE, "imds": "http://[1"}, "on this machine only"),
        ({"storage": STORAGE, "interval": "0"}, "--interval takes seconds from 1 to 300"),
        ({"storage": STORAGE, "flush": "soon"}, "--flush takes seconds from 5 to 3600"),
        ({"storage": STORAGE, "pool": "a/b"}, "characters that no name in Batch has"),
        ({"storage": STORAGE, "imds": "http://elsewhere.example"}, "on this machine only"),
    ],
)
def test_a_setting_that_makes_no_sense_is_one_sentence(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        settings_of(options, BATCH)


def test_outside_of_batch_the_missing_name_is_named() -> None:
    with pytest.raises(SettingsError, match="--account"):
        settings_of({"storage": STORAGE}, {})


def test_loopback_storage_may_be_http() -> None:
    address = "http://127.0.0.1:10000/dev/telemetry?sig=x"
    assert settings_of({}, {**BATCH, "BATCHSCOPE_STORAGE": address}).sas == "sig=x"
