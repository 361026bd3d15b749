"""Records: a measurement's fields and tags at one time, as Telegraf's plugins name them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Union

Value = Union[bool, int, float, str]
ENDED_ATTEMPT = "batchscope_task_attempt"
"""The measurement that an attempt of a task ends with."""
_NONE: Mapping[str, str] = MappingProxyType({})


class Record(NamedTuple):
    """One record; `time` is in nanoseconds since 1970, or None for the time of its collection.

    Names and units are those of Telegraf's input plugins where there is one, so that the app's catalog knows them.
    Whole numbers may have 64 bits.
    """

    measurement: str
    fields: Mapping[str, Value]
    tags: Mapping[str, str] = _NONE
    time: int | None = None
