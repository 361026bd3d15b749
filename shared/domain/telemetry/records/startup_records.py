"""Startup records: those an agent sends once per session, which describe its node and identity.

Environments, configurations and platform metadata contain secrets. Only output of `shown` is read, and of the
environment only the Batch variables that name something.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec.structs import replace

from shared.domain.redaction.redaction import MARK, redacted
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value

ONCE_TAG, ONCE = "vm_monitor_collection", "once"
SINGLE = frozenset(("imds_metadata", "batch_agent_data", "linux_boot", "batch_vm_info"))
"""Records that a session has one of each."""
LISTS = frozenset(("exec.lsblk", "nvme_metadata"))
"""Records that a session has one of for each `name` they contain."""
_ENVIRONMENT = frozenset(("exec.env", "task_env"))
_SHOWN_VARIABLES = {
    "AZ_BATCH_POOL_ID": "pool", "AZ_BATCH_NODE_ID": "node", "AZ_BATCH_JOB_ID": "job", "AZ_BATCH_TASK_ID": "task",
}  # fmt: skip
_TAGS = {
    **_SHOWN_VARIABLES, "pool_id": "pool", "node_id": "node", "job_id": "job", "task_id": "task",
    "task_attempt": "attempt",
}  # fmt: skip
NAMING_TAGS = frozenset((*_TAGS, ONCE_TAG, "host"))
"""Tags that name the writer of a record, or say that it is sent once."""
_FIELDS = {
    ("batch_agent_data", "batch_vm_name"): "node", ("batch_agent_data", "batch_pool_name"): "pool",
    ("imds_metadata", "batch_pool_name"): "pool",
}  # fmt: skip
_MAX_LENGTH = 4096  # characters of a value; longer ones are dropped: part of a secret can't be recognized
_TOO_LONG = "[too long]"
_MAX_SINGLE_LENGTH = 64
_MAX_REMEMBERED_LENGTH = 256
_MAX_WHOLE = 1 << 64


def is_once(metric: Metric) -> bool:
    return metric.tags.get(ONCE_TAG, "").strip('"') == ONCE


def is_of_batch(metric: Metric) -> bool:
    """Returns whether a record describes the environment of a Batch task, the most reliable source of identity."""
    return metric.name in _ENVIRONMENT


def single_of(metric: Metric) -> str:
    """Returns the key of a `shown` record that a session has only once; empty if it may have several."""
    if metric.name in LISTS:
        return f"{metric.name}/{metric.fields.get('name', '')}"[:_MAX_SINGLE_LENGTH]
    if metric.name in _ENVIRONMENT:
        name = metric.fields.get("key")
        return f"{metric.name}/{name}" if name in _SHOWN_VARIABLES else ""
    return metric.name if metric.name in SINGLE else ""


def shown(metric: Metric) -> Metric:
    """Returns a record without possible secrets: no values of unlisted variables, no keys, no tokens."""
    if metric.name in _ENVIRONMENT:
        return replace(metric, fields=_shown_variable(metric), tags={})
    fields = {name: _shown_value(name, value) for name, value in metric.fields.items() if _is_name(name)}
    tags = {name: str(_shown_value(name, value)) for name, value in metric.tags.items() if _is_name(name)}
    return replace(metric, name=str(_shown_value("", metric.name)), fields=fields, tags=tags)


def named(text: str) -> str:
    """Returns a name from a tag without the agent's quotes, and without NUL, which separates names in keys."""
    return _remembered_name(text) if len(text) <= _MAX_REMEMBERED_LENGTH else _named(text)


def _named(text: str) -> str:
    return str(_shown_value("", text.strip('"'))).replace("\0", "\N{REPLACEMENT CHARACTER}")


_remembered_name = lru_cache(1024)(_named)  # a host, a job, some tasks: the search for secrets dominates the cost


def identity_of_tags(tags: Mapping[str, str]) -> Identity:
    """Returns the identity that these tags give to their records."""
    return Identity(**{part: named(tags[tag]) for tag, part in _TAGS.items() if tags.get(tag)})


def identity_of_record(metric: Metric) -> Identity:
    """Returns the identity that a `shown` record gives to its session."""
    if metric.name in _ENVIRONMENT:
        part = _SHOWN_VARIABLES.get(str(metric.fields.get("key", "")))
        return Identity(**{part: str(metric.fields["value"])}) if part else Identity()
    found = {part: str(metric.fields[name]) for (record, name), part in _FIELDS.items()
             if record == metric.name and metric.fields.get(name)}  # fmt: skip
    return Identity(**found)


def _shown_variable(metric: Metric) -> dict[str, Value]:
    name, value = str(metric.fields.get("key", metric.tags.get("tag", ""))).strip('"'), metric.fields.get("value")
    if name not in _SHOWN_VARIABLES:
        return {"key": _shown_value("", name), "value": MARK}
    is_whole = type(value) is int and abs(value) < _MAX_WHOLE
    return {"key": name, "value": _shown_value("", str(value) if is_whole or isinstance(value, str) else "")}


def _is_name(text: str) -> bool:
    """Returns whether a text is only a name; anything beyond one may itself be a secret."""
    return len(text) <= _MAX_LENGTH and redacted(text) == text


def _shown_value(name: str, value: Value) -> Value:
    """Returns a value without secrets; the redaction mark where its name marks it as one."""
    if not isinstance(value, str):
        return value
    if MARK in redacted(f"{name}=x"):
        return MARK
    return redacted(value) if len(value) <= _MAX_LENGTH else _TOO_LONG
