"""Startup records of Batch's variables: values of those that name something, only the names of the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agent.records.record import Record
from agent.startup.once import once

MAX_VARIABLES = 100
PREFIX = "AZ_BATCH_"
_NAMING = frozenset((
    "AZ_BATCH_ACCOUNT_NAME", "AZ_BATCH_POOL_ID", "AZ_BATCH_NODE_ID", "AZ_BATCH_JOB_ID", "AZ_BATCH_TASK_ID",
))  # fmt: skip
_NAME = re.compile(r"AZ_BATCH_[A-Za-z0-9_.#\-]{1,100}")
_VALUE = re.compile(r"[\w.\-:$]{1,128}")


def task_environment(environment: Mapping[str, str]) -> Iterable[Record]:
    """Yields a `task_env` record for each of Batch's variables, of which `value` is there only if it names something.

    Other variables are left out as a whole, and so is a value that no id in Batch can have.
    """
    names = sorted(name for name in environment if _NAME.fullmatch(name))
    chosen = [name for name in names if name in _NAMING] + [name for name in names if name not in _NAMING]
    for name in chosen[:MAX_VARIABLES]:
        yield once("task_env", {"key": name, "value": _value(name, environment[name])})


def _value(name: str, value: str) -> str | None:
    return value if name in _NAMING and _VALUE.fullmatch(value) else None
