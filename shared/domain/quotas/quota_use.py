"""How much of its quotas an account uses: cores of nodes by VM family, pools, and active jobs with job schedules."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shared.domain.jobs.jobs import COMPLETED
from shared.domain.pools.pools import Pool
from shared.domain.pools.vm_sizes import vcpus_of

type QuotaName = Literal["dedicatedCores", "spotCores", "familyCores", "pools", "activeJobsAndSchedules"]
_NAME = re.compile(r"(basic|standard)_([a-z]+)\d+(?:-\d+)?([a-z]*)((?:_[a-z0-9]+)*)", re.ASCII)
_WITHOUT_MACHINE = frozenset(("preempted", "deallocated"))


class QuotaKey(NamedTuple):
    """A quota; `family` names the VM family of `familyCores`, in lower case, and is empty for others."""

    name: QuotaName
    family: str = ""


DEDICATED, SPOT, POOLS, JOBS = (
    QuotaKey("dedicatedCores"),
    QuotaKey("spotCores"),
    QuotaKey("pools"),
    QuotaKey("activeJobsAndSchedules"),
)


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """The numbers used, by quota; nodes whose cores, or whose pool's share of kinds, aren't known are in none."""

    numbers: Mapping[QuotaKey, int] = field(default_factory=dict)
    unknown_nodes: int = 0

    def of(self, key: QuotaKey) -> int:
        return self.numbers.get(key, 0)


def family_of(vm_size: str) -> str | None:
    """Returns the name that the family of a VM size has among quotas, in lower case; None where it isn't a size's.

    `Standard_D4as_v5` is `standarddasv5family`: the letters of its name, an accelerator, the version. Families of
    other names, as that of the first A sizes, aren't recognized; their cores count in the account's total only.
    """
    found = _NAME.fullmatch(vm_size.lower())
    if found is None:
        return None
    tier, family, features, rest = found.groups()
    return f"{tier}{family}{features}{rest.replace('_', '')}family"


def active_jobs(by_state: Mapping[str, int]) -> int:
    """Returns how many of an account's jobs count: all that haven't completed."""
    return sum(number for state, number in by_state.items() if state != COMPLETED)


def quota_use(pools: Iterable[Pool], active: int) -> QuotaUse:
    """Returns what pools use, beside a number of active jobs and job schedules."""
    numbers, unknown = Counter[QuotaKey](), 0
    for pool in pools:
        numbers[POOLS] += 1
        unknown += _count_cores(numbers, pool)
    numbers[JOBS] = active
    return QuotaUse(dict(numbers), unknown)


def _count_cores(numbers: Counter[QuotaKey], pool: Pool) -> int:
    """Adds the cores of a pool's nodes; returns the number of nodes that can't be counted."""
    snapshot = pool.snapshot
    if snapshot is None:
        return pool.facts.nodes
    kinds = Counter[bool]()
    for state, dedicated, number in snapshot.summary.counts:
        kinds[dedicated] += number if state not in _WITHOUT_MACHINE else 0
    sizes = [(one.vm_size, one.machines) for one in pool.sizes or () if one.machines]
    if len(sizes) > 1 and kinds[True] and kinds[False]:
        return kinds.total()  # how many of each size are dedicated isn't stored
    return sum(
        _count_nodes(numbers, vm_size, number if len(sizes) == 1 else machines, dedicated=dedicated)
        for vm_size, machines in sizes
        for dedicated, number in kinds.items()
        if number
    )


def _count_nodes(numbers: Counter[QuotaKey], vm_size: str, nodes: int, *, dedicated: bool) -> int:
    """Adds the cores of nodes of a size and kind; returns their number where their cores aren't known."""
    cores, family = vcpus_of(vm_size), family_of(vm_size)
    if cores is None:
        return nodes
    numbers[DEDICATED if dedicated else SPOT] += cores * nodes
    if dedicated and family:
        numbers[QuotaKey("familyCores", family)] += cores * nodes
    return 0
