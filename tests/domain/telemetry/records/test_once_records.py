import base64
import json
from typing import Any

import msgspec
import pytest

from shared.domain.redaction.redaction import MARK
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.records.startup_records import shown
from tests.domain.telemetry.support.nodes import intake, once, step, variable

ACCOUNT_KEY = base64.b64encode(bytes(range(64))).decode()
WORD = "Tr0ub4dor-and-3"
SECRETS = {
    "an account key": (ACCOUNT_KEY, ACCOUNT_KEY),
    "a shared access signature": (f"https://a.blob.core.windows.net/c?sv=2024&sig={WORD}%3D&se=2026", WORD),
    "a connection string": (f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={WORD};Endpoint=x", WORD),
    "a bearer token": (f"Authorization: Bearer {WORD}{WORD}", WORD),
    "a password in an address": (f"https://user:{WORD}@example.org/repo", WORD),
    "a private key": (f"-----BEGIN RSA PRIVATE KEY-----\n{WORD}\n-----END RSA PRIVATE KEY-----", WORD),
    "a key of ssh": ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 me@here", "AAAAB3NzaC1yc2EAAAADAQABAAABAQC7"),
    "an id of AWS": ("the id AKIAIOSFODNN7EXAMPLE of mine", "AKIAIOSFODNN7EXAMPLE"),
    "a secret of AWS": (f"aws_secret_access_key = {WORD}", WORD),
    "a client's secret": (f'{{"client_secret": "{WORD}"}}', WORD),
    "a variable": (f"DB_PASSWORD={WORD} ./run", WORD),
    "a JSON web token": (f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}", "c" * 20),
}


def everything_kept(*records: Metric) -> str:
    """Returns all that an intake outputs and remembers, as text."""
    reader = intake()
    found = reader.take(step(records))
    rollups = [(number, list(part)) for number, part in found.rollups.items()]
    kept = msgspec.json.encode([list(found.sessions.values()), reader.state, list(found.dropped.unknown), rollups])
    return json.dumps(json.loads(kept), ensure_ascii=False)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_that_is_planted_anywhere_is_kept_nowhere(secret: str) -> None:
    text, core = SECRETS[secret]
    records = [
        variable("ANY", text), variable("AZ_BATCH_TASK_ID", text), variable(text, "x"), once("task_env", value=text),
        once("imds_metadata", vm_size=text, vm_location=text, zone=text, batch_pool_name=text, vm_tags=text),
        once("batch_agent_data", batch_vm_name=text), once("exec.lsblk", name=text, type="disk", size=1, model=text),
        once("vm_cpuinfo_metadata", tags={text: text}, model_name=text), once("telegraf_config_once", value=text),
        once("nvme_metadata", name=text, physical_size=1), once(text, f=1), once("mem", tags={"host": "h"}, used=1),
        once("disk", tags={"path": text, "device": text}, used=1), Metric("tail", {"path": text}, {"message": text}, 1),
        once("procstat", tags={"process_name": text, "cmdline": text}, pid=text, memory_rss=1),
    ]  # fmt: skip
    for record in records:
        assert core not in str(shown(record)) or not record.tags.get("vm_monitor_collection")
    assert core not in everything_kept(*records)


def test_the_value_of_a_variable_is_hidden_even_if_it_looks_plain() -> None:
    assert shown(variable("HOME", "/root")).fields == {"key": "HOME", "value": MARK}
    assert shown(variable("AZ_BATCH_JOB_ID", "job-1")).fields == {"key": "AZ_BATCH_JOB_ID", "value": "job-1"}
    assert shown(once("task_env", tags={"tag": "X_TOKEN"}, value="abc")).fields["value"] == MARK


@pytest.mark.parametrize(
    ("value", "task"),
    [(7, "7"), ("7", "7"), ("", "of-path"), (None, "of-path"), (True, "of-path"), (7.5, "of-path"),
     (1 << 70, "of-path")],
)  # fmt: skip
def test_a_name_that_is_a_number_is_taken_and_none_leaves_the_paths(value: Value | None, task: str) -> None:
    value_field: dict[str, Any] = {} if value is None else {"value": value}
    tagged = once("task_env", 0, {"tag": "AZ_BATCH_TASK_ID"}, **value_field)
    for record in (once("exec.env", key="AZ_BATCH_TASK_ID", **value_field), tagged):
        found = intake(Identity(job="j", task="of-path")).take(step([record])).sessions[0]
        assert found.identity == Identity(job="j", task=task)


def test_a_value_whose_name_says_that_it_is_secret_is_hidden_in_whole() -> None:
    record = shown(once("imds_metadata", admin_password="two words", vm_size="D2", count=3))
    assert record.fields == {"admin_password": MARK, "vm_size": "D2", "count": 3}


def test_a_value_of_absurd_length_is_left_out_as_half_a_secret_has_no_looks() -> None:
    record = shown(once("imds_metadata", text="a" * 4000 + ACCOUNT_KEY + "a" * 4000))
    assert record.fields == {"text": "[too long]"}
