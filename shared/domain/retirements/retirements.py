"""Which pools a retirement concerns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from shared.domain.core.keys import key_of
from shared.domain.pools.pool_sizes import nodes_by_vm_size
from shared.domain.pools.pools import Pool
from shared.domain.retirements.announcements import Announcement, merged
from shared.domain.retirements.app_properties import AppProperties


@dataclass(frozen=True, slots=True)
class ConcernedPool:
    """A pool that a retirement concerns, with the number of its nodes and of the jobs that haven't completed on it."""

    account_id: str
    pool_id: str
    nodes: int
    jobs: int


@dataclass(frozen=True, slots=True)
class Retirement:
    """An announcement with the pools that it concerns, and those for which that is unknown, by account id and pool id.

    `concerns_app` is True where it concerns this app itself.
    """

    announcement: Announcement
    days_left: int | None
    pools: Sequence[ConcernedPool]
    unknown: Sequence[tuple[str, str]]
    concerns_app: bool = False


def concerns(announced: Announcement, pool: Pool) -> bool | None:
    """Returns whether an announcement concerns a pool, by its settings and the sizes of its nodes; None is unknown."""
    return announced.concerns(pool.facts, nodes_by_vm_size(pool) or ())


def retirements(
    announced: Mapping[str, Sequence[Announcement]],
    pools: Mapping[str, Iterable[Pool]],
    jobs: Mapping[str, Mapping[str, int]],
    today: date,
    app: AppProperties,
    *,
    general: Iterable[Announcement] = (),
) -> list[Retirement]:
    """Returns each announcement in order, with pools of those accounts that have it.

    `announced` and `pools` are by account id, `jobs` are counts by account id and pool key. `general` announcements are
    those of no account. Equal ones may name other node agents for each account, as its region lists them.
    """
    found, known = [], {account: {one.key: one for one in some} for account, some in announced.items()}
    for one in merged(*announced.values(), general):
        concerned, unknown = list[ConcernedPool](), list[tuple[str, str]]()
        for account, some in pools.items():
            if (own := known[account].get(one.key)) is None:
                continue
            for pool in some:
                is_concerned = concerns(own, pool)
                if is_concerned is None:
                    unknown.append((account, pool.facts.id))
                if is_concerned:
                    count = jobs.get(account, {}).get(pool.key, 0)
                    concerned.append(ConcernedPool(account, pool.facts.id, pool.facts.nodes, count))
        found.append(Retirement(one, one.days_left(today), concerned, unknown, one.concerns_app(app)))
    return found


def jobs_by_pool(pool_ids: Iterable[str | None]) -> dict[str, int]:
    """Returns the number of jobs by the key of their pool; jobs without one aren't counted."""
    found: dict[str, int] = {}
    for pool in pool_ids:
        if pool:
            found[key_of(pool)] = found.get(key_of(pool), 0) + 1
    return found
