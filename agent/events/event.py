"""Events of a node as records, and the kinds that there are."""

from __future__ import annotations

from collections.abc import Mapping

from agent.records.record import Record, Value
from agent.tasks.identity import TaskIdentity

MEASUREMENT = "batchscope_event"
LOG_RECORD = "log_record_uid"
"""The field that identifies the log's record which an event rests on: the app counts equal ones once."""


def event(
    kind: str,
    message: str,
    fields: Mapping[str, Value] | None = None,
    *,
    task: TaskIdentity | None = None,
    time: int | None = None,
) -> Record:
    """Returns the record of an event: its kind in lower case with underscores, and one sentence for a person.

    `fields` are its figures. `task` is the task that it struck, `time` in nanoseconds since 1970 if it is known.
    """
    tags = {"kind": kind, **(task.tags() if task else {})}
    return Record(MEASUREMENT, {"message": message, **(fields or {})}, tags, time)
