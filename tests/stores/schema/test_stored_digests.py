"""Stored or sent digests and texts, as literals: many derive from the names of Python classes and fields.

A changed digest makes every row that contains it look changed after an upgrade. While hosts of two versions run
concurrently, each undoes the other's confirmations. So a class or field with such a name is renamed only together with
a digest that stays the same.
"""

from dataclasses import replace

import pytest

from functions.http.lists import continuation_of
from functions.queue_messages import PollMessage, poll_message, queued_message, text_of
from shared.domain.accounts.operations import JobMessage
from shared.domain.blobs.queued_shards import ShardMessage
from shared.domain.core.keys import name_key
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.event_marks import marks_of, marks_wanted
from shared.domain.events.event_records import parse_event
from shared.domain.tasks.failures import failure_group_id
from shared.domain.tasks.tasks import TaskCounts
from shared.domain.telemetry.catalog.catalog import plugins
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.records.labels import PathPattern
from tests.pinned_names import assert_pinned
from tests.stores.schema.made_rows import ACCOUNT, BLOB, ENTRY, EVENT, POOL, SCHEDULE, SNAPSHOT, T0, WHOSE

_IS_STORED = "the version is stored, so no name may change, and a new field takes repr=False"
_RECORD = (
    b'{"time": "2026-08-06T12:00:00Z", "resourceId": "/S/BATCHACCOUNTS/DEMO", "operationName": "TaskStartEvent",'
    b' "properties": {"jobId": "job", "id": "task", "nodeInfo": {"poolId": "pool", "nodeId": "node"}}}'
)


def test_the_version_of_a_snapshot_is_made_of_the_names_of_task_counts() -> None:
    assert SNAPSHOT.version == "c18a150f8dd2cb96", f"{_IS_STORED}: {TaskCounts()!r}"


def test_the_version_of_a_pool_is_made_of_its_property_names() -> None:
    assert POOL.version == "0bcb8ff85dae71de", f"{_IS_STORED}: {POOL.content!r}"


def test_the_version_of_a_job_schedule_is_made_of_its_property_names() -> None:
    assert SCHEDULE.version == "8e1cd215651ef894", f"{_IS_STORED}: {replace(SCHEDULE, specification=None)!r}"


@pytest.mark.parametrize(
    ("failure", "exit_code", "digest"), [(("UserError", "code"), 1, "be8c367e7a84"), (("", ""), None, "86dcdb5431e9")]
)
def test_the_id_of_a_failure_group_stays(failure: tuple[str, str], exit_code: int | None, digest: str) -> None:
    assert failure_group_id(failure, exit_code) == digest


def test_an_event_of_the_log_keeps_its_identity() -> None:
    assert parse_event(_RECORD).id == "1c63530-a53f04b7511c57078a8d3031"


def test_marks_of_events_are_made_of_the_names_of_their_fields() -> None:
    assert marks_of([EVENT]).hex() == "084c9f299226f09f9822be79a8bbdb8c"
    wanted = marks_wanted(EventFilter(jobs=frozenset(("job",)), pools=frozenset(("pool",)), nodes=frozenset(("node",))))
    assert [mark.hex() for some in wanted for mark in some] == ["084c9f29", "a8bbdb8c", "9226f09f"]


def test_a_series_keeps_its_id() -> None:
    assert Series("system.memory.usage", (("system.memory.state", "used"),)).id == "e99c7b0530c4f54b"


def test_a_blob_keeps_its_keys() -> None:
    assert name_key(BLOB) == "b4a336ea27184cf4d7936010aa9becc4"
    assert ENTRY.incarnation == "b4a336ea27184cf4d7936010aa9becc4-1a1fce79dfb-2"


def test_messages_of_queues_have_these_texts_and_are_read_from_them() -> None:
    for message, text in (
        (
            JobMessage(ACCOUNT, "Nightly:job-1", T0),
            '{"account":"demo.westeurope","job":"Nightly:job-1","until":"2026-11-21T07:00:00.123000Z"}',
        ),
        (JobMessage(ACCOUNT, None), '{"account":"demo.westeurope","job":null,"until":null}'),
        (
            ShardMessage("demo.westeurope~telemetry", 7),
            '{"ingest_partition":"demo.westeurope~telemetry","shard":7}',
        ),
    ):
        assert text_of(message) == text
        assert queued_message(text.encode()) == message
    text = '{"account":"demo.westeurope","poll":"poll"}'
    assert text_of(PollMessage(ACCOUNT, "poll")) == text
    assert poll_message(text.encode()) == PollMessage(ACCOUNT, "poll")


def test_the_text_of_a_continuation_stays() -> None:
    assert continuation_of("state desc", (False, 7, "job")) == "WyJzdGF0ZSBkZXNjIixmYWxzZSw3LCJqb2IiXQ"


def test_a_pattern_of_telemetry_paths_knows_these_names() -> None:
    pattern = PathPattern("{pool}/{node}/{job}/{task}/{attempt}/*")
    assert pattern.identity("pool/node/job/task/1/blob") == WHOSE


def test_series_have_the_names_units_and_attributes_that_are_stored_and_public() -> None:
    found = []
    for plugin in plugins().values():
        keys = {*plugin.tags.values(), *plugin.keys.values(), *(name for name, _ in plugin.fixed)}
        for rule in plugin.fields.values():
            found.append(f"{rule.name} {rule.kind} {rule.unit}")
            found += [f"{rule.name} {name}={value}" for name, value in rule.attributes]
            found += [f"{rule.name} {name}=*" for name in keys]
    assert_pinned("telemetry_series", found, "stored and public")
