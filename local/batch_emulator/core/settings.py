"""Settings that can change at run time, by `POST /_emulator/settings`, with the names of its JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import isfinite
from typing import Any

COLLATIONS = ("ordinal", "linguistic", "reversed")
_MAX_PAGE_SIZE = 1000
_PAGE_SIZES = ("pageSize", "pricePageSize")
_MIN_EMPTY_PAGE_EVERY = 2
_LISTS = ("vmSizeCapacity", "familyCoreQuotas")


@dataclass(slots=True)
class EmulatorSettings:
    """The settings. Seconds are real (virtual in stepped mode), but the speed shortens mean times to node loss.

    `emptyPageEvery` N empties every Nth page of a list, which still has a next link; 0 none. `pageSize` caps clients'
    page sizes; `pricePageSize` is the size of pages of prices. Nodes with a mean time to loss of 0 are never lost.
    `dedicatedNodeQuota` limits the dedicated nodes of all pools of an account, `poolQuota` its pools, `jobQuota` its
    active jobs and job schedules, `dedicatedCoreQuota` and `spotCoreQuota` the cores of its nodes; 0 means no limit.
    `familyCoreQuotas` limits dedicated cores of VM families, such as `standardDSv5Family=32`.
    `accountTags` are those of each account in the management plane, such as `team=render stage=test`.
    `vmSizeCapacity` limits an account's nodes of VM sizes, such as `standard_d2s_v5=3 standard_d4s_v5=0`; sizes that it
    doesn't name have no limit. Nodes get the `nodeAgentVersion` of their allocation and keep it.
    """

    idCollation: str = "ordinal"
    unorderedLists: bool = False
    countLagSeconds: float = 0.0
    nodeCountLagSeconds: float = 0.0
    pageSize: int = _MAX_PAGE_SIZE
    emptyPageEvery: int = 0
    nodeClockSkewSeconds: float = 1.0
    latencySeconds: float = 0.0
    preemptionSeconds: float = 900.0
    nodeLossSeconds: float = 0.0
    dedicatedNodeQuota: int = 0
    poolQuota: int = 0
    jobQuota: int = 0
    dedicatedCoreQuota: int = 0
    spotCoreQuota: int = 0
    familyCoreQuotas: str = ""
    accountTags: str = ""
    vmSizeCapacity: str = ""
    nodeAgentVersion: str = "1.12.3"
    pricePageSize: int = 100

    @property
    def family_quotas(self) -> Mapping[str, int]:
        """The dedicated cores that an account may have of VM families, by their names as set."""
        return _numbers(self.familyCoreQuotas, "familyCoreQuotas")

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags of each account by name."""
        return {name: value for name, _, value in (entry.partition("=") for entry in self.accountTags.split())}

    @property
    def capacity(self) -> Mapping[str, int]:
        """The number of nodes that an account may have of a VM size, by its name in lower case."""
        return {size.lower(): number for size, number in _numbers(self.vmSizeCapacity, "vmSizeCapacity").items()}

    def with_changes(self, changes: Mapping[str, object]) -> "EmulatorSettings":
        """Returns a copy with other values. Raises ValueError with the invalid name or value."""
        for name, value in changes.items():
            _check(self, name, value)
        typed: dict[str, Any] = {name: _typed(getattr(self, name), value) for name, value in changes.items()}
        return replace(self, **typed)

    def copy_from(self, other: "EmulatorSettings") -> None:
        """Copies the values of `other` into this object, which others share."""
        for name, value in asdict(other).items():
            setattr(self, name, value)


def _check(settings: EmulatorSettings, name: str, value: object) -> None:
    if name not in asdict(settings):
        raise ValueError(f"There is no setting '{name}'; known are {', '.join(asdict(settings))}.")
    present = getattr(settings, name)
    if isinstance(present, bool) != isinstance(value, bool) or not isinstance(value, _kinds(present)):
        raise ValueError(f"'{value}' is no value for {name}.")
    if name == "idCollation" and value not in COLLATIONS:
        raise ValueError(f"idCollation is one of {', '.join(COLLATIONS)}, not '{value}'.")
    if name in _LISTS:
        _numbers(str(value), name)
    if name == "nodeAgentVersion" and not value:
        raise ValueError("nodeAgentVersion can't be empty.")
    if not isinstance(value, int | float):
        return
    if not (value >= 0 and isfinite(value)):
        raise ValueError(f"{name} can't be {value}.")
    if name in _PAGE_SIZES and not 1 <= value <= _MAX_PAGE_SIZE:
        raise ValueError(f"{name} is from 1 to {_MAX_PAGE_SIZE}, not {value}.")
    if name == "emptyPageEvery" and 0 < value < _MIN_EMPTY_PAGE_EVERY:
        raise ValueError("emptyPageEvery is 0 or at least 2: if every page were empty, no list would end.")


@lru_cache(16)
def _numbers(text: str, setting: str) -> Mapping[str, int]:
    """Returns the numbers by name of a setting. Raises ValueError with the wrong entry."""
    found: dict[str, int] = {}
    for entry in text.split():
        name, _, number = entry.partition("=")
        if not name or not number.isdecimal():
            raise ValueError(f"{setting} is a list such as 'standard_d2s_v5=3 standard_d4s_v5=0', not '{entry}'.")
        found[name] = int(number)
    return found


def _kinds(present: object) -> tuple[type, ...]:
    return (int, float) if isinstance(present, float) else (type(present),)


def _typed(present: object, value: object) -> object:
    return float(value) if isinstance(present, float) and isinstance(value, int) else value
