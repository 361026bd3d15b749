"""The parameters of the task list that show a compared group of tasks."""

from collections.abc import Callable, Mapping
from datetime import timedelta

import msgspec

from shared.domain.contrasts.attributes import HOUR, SETTING_CHANGE
from shared.domain.contrasts.contrast import Contrast
from shared.domain.core.stamps import format_stamp, from_milliseconds


def task_filter(one: Contrast) -> dict[str, str]:
    """Returns the parameters for a group, none where the list has no such filter."""
    found = _FILTERS.get(one.attribute)
    return {name: value for name, value in found(one).items() if value} if found else {}


def _node(one: Contrast) -> dict[str, str]:
    return {"poolId": one.low[0], "nodeId": one.low[1]}


def _started(low: int | None, high: int | None) -> dict[str, str]:
    """Returns the filter for bounds in milliseconds since 1970, both included, 0 and None for none."""
    bounds = {"startedFrom": low, "startedTo": high}
    return {name: format_stamp(from_milliseconds(at)) for name, at in bounds.items() if at}


def _between_changes(one: Contrast) -> dict[str, str]:
    low, high = one.low, one.high
    pool = (low or high).pool
    return {"poolId": pool} | _started(low.since if low else None, high.until - 1 if high else None)


def _run_time(one: Contrast) -> dict[str, str]:
    bounds = {"runTimeFrom": one.low, "runTimeTo": one.high}
    return {
        name: str(msgspec.to_builtins(timedelta(milliseconds=span)))
        for name, span in bounds.items()
        if span is not None
    }


_FILTERS: Mapping[str, Callable[[Contrast], dict[str, str]]] = {
    "node": _node,
    "pool": lambda one: {"poolId": one.low},
    "slots": lambda one: {"slots": str(one.low)},
    "start": lambda one: _started(one.low, one.high),
    "startHour": lambda one: _started(one.low, one.low + HOUR - 1),
    SETTING_CHANGE: _between_changes,
    "runTime": _run_time,
}
