"""Records of the node agent that report an event: they become events without secrets, of bounded size.

Everything in a record is untrusted: a task on the node can write one as well. The bounds are several times the agent's.
"""

import re
from datetime import timedelta

from msgspec.structs import replace

from shared.domain.core.stamps import EPOCH
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.node_events import LOG_RECORD, MESSAGE, PREFIX, node_event_identity
from shared.domain.redaction.redaction import is_harmless_word, redacted_begin
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.records.startup_records import shown

MAX_EVENTS = 200
"""Records of events that are considered in a step, so that hostile ones take bounded time and rows."""
_MEASUREMENT = "batchscope_event"
_KIND, _UNKNOWN = "kind", "unknown"
_APART = {MESSAGE, LOG_RECORD}
_IS_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MAX_FIELDS = 12
_MAX_NAME, _MAX_TEXT, _MAX_MESSAGE, _MAX_ID = 64, 256, 500, 256  # characters
_MAX_WHOLE = 1 << 63  # rows hold no larger numbers


def is_event(metric: Metric) -> bool:
    """Returns whether a record reports an event of a node."""
    return metric.name == _MEASUREMENT


def event_of(metric: Metric, time: int, whose: Identity) -> BatchEvent:
    """Returns the event of a record; `time` is its nanosecond since 1970, `whose` names at least the node.

    Texts, names and whole numbers beyond the bounds are left out, the message is cut. Redaction comes before both.
    """
    kind = PREFIX + _kind_of(metric)
    return BatchEvent(
        at=EPOCH + timedelta(microseconds=time // 1000),
        kind=kind,
        job=_id(whose.job),
        task=_id(whose.task),
        pool=_id(whose.pool),
        node=_id(whose.node),
        properties=_properties(metric),
        identity=node_event_identity(whose.pool, whose.node, kind, time, metric.fields),
    )


def _kind_of(metric: Metric) -> str:
    kind = metric.tags.get(_KIND, "")
    return kind if _IS_KIND.fullmatch(kind) and is_harmless_word(kind) else _UNKNOWN


def _properties(metric: Metric) -> dict[str, Value]:
    """Returns the message and the first fields that are within the bounds, without secrets."""
    message = metric.fields.get(MESSAGE)
    found = {MESSAGE: redacted_begin(message, _MAX_MESSAGE)} if isinstance(message, str) else {}
    names = [name for name in metric.fields if name not in _APART and len(name) <= _MAX_NAME][:_MAX_FIELDS]
    fields = {name: metric.fields[name] for name in names if _is_bounded(metric.fields[name])}
    return found | shown(replace(metric, name="", tags={}, fields=fields)).fields


def _is_bounded(value: Value) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_TEXT
    return isinstance(value, float) or -_MAX_WHOLE <= value < _MAX_WHOLE


def _id(name: str) -> str | None:
    """Returns an id; None where it is unknown, or too long to be one."""
    return name if 0 < len(name) <= _MAX_ID else None
