"""The labels of a day's usage: metadata of its pools and jobs, and tags of the account, as they are stored now."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from shared.domain.accounts.accounts import Account
from shared.domain.core.labels import Labels, kept_labels
from shared.domain.cost.usage_days import UsageDay
from shared.domain.jobs.jobs import Job
from shared.domain.pools.pools import Pool
from shared.stores.stores import Stores

type _Items = Iterable[tuple[str | None, str | None]]


class DayLabels:
    """Labels with some names; values of others are left out, also where a day has them from before."""

    def __init__(self, stores: Stores, names: Collection[str] = ()) -> None:
        self._stores = stores
        self._names = names

    async def tags(self, account: Account) -> Labels | None:
        """Returns the account's tags, as they were read last; None before that. Raises StorageError."""
        if not self._names:
            return None
        limits = (await self._stores.quotas.load(account.key)).limits
        return kept_labels(limits.tags.items(), self._names) if limits else None

    def labelled(self, day: UsageDay, pools: Iterable[Pool], jobs: Mapping[str, Job], tags: Labels | None) -> UsageDay:
        """Returns a day with the labels of now; what isn't known now keeps those that it had."""
        of_pools = {pool.key: _metadata(pool) for pool in pools if pool.key in day.pools}
        of_jobs = {key: jobs[key].facts.metadata for key in day.jobs if key in jobs}
        return replace(
            day,
            pool_labels=self._merged(day.pool_labels, of_pools),
            job_labels=self._merged(day.job_labels, of_jobs),
            tags=kept_labels(day.tags.items(), self._names) if tags is None else tags,
        )

    def _merged(self, before: Mapping[str, Labels], now: Mapping[str, _Items]) -> dict[str, Labels]:
        found = {key: kept_labels(labels.items(), self._names) for key, labels in before.items()}
        found |= {key: kept_labels(items, self._names) for key, items in now.items()}
        return {key: labels for key, labels in found.items() if labels}


def _metadata(pool: Pool) -> _Items:
    settings = pool.facts.settings
    return [(one.name, one.value) for one in settings.metadata or ()] if settings else []
