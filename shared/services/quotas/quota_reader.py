"""Reads the limits of accounts from Azure Resource Manager once an hour, and keeps the largest use of each day.

A failure is a sentence in storage. Known limits go on, and the next run tries again.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.quotas.account_quotas import StoredQuotas
from shared.domain.quotas.quota_days import with_use
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.domain.quotas.quota_use import QuotaUse, active_jobs, quota_use
from shared.errors import CacheConflictError, QuotaError
from shared.log import logger
from shared.stores.accounts.resource_manager import ResourceManager
from shared.stores.stores import Stores

_LOG = logger(__name__)
_INTERVAL = timedelta(minutes=50)  # the timer that runs it has an hour
_DAY = 86_400_000  # milliseconds


class QuotaReader:
    """The reading for all accounts whose ids are known."""

    def __init__(
        self, accounts: Sequence[Account], stores: Stores, source: ResourceManager, settings: QuotaSettings
    ) -> None:
        self._accounts = [account for account in accounts if settings.requests_for(account)]
        self._stores = stores
        self._source = source

    async def refresh(self, now: datetime) -> None:
        """Reads the limits of accounts that are due. Raises StorageError."""
        for account in self._accounts:
            stored = await self._stores.quotas.load(account.key)
            if stored.failed_since or stored.limits is None or now - stored.limits.as_of >= _INTERVAL:
                found = await self._read(account, stored, now)
                with suppress(CacheConflictError):  # another host read them, too
                    await self._stores.quotas.save(account.key, found)

    async def _read(self, account: Account, stored: StoredQuotas, now: datetime) -> StoredQuotas:
        """Returns the quotas after a read, with the present use among that of days."""
        use = await stored_use(self._stores, account)
        kept = replace(stored, days=with_use(stored.days, use, to_milliseconds(now) // _DAY))
        try:
            return kept.read(await self._source.fetch_limits(account, now))
        except QuotaError as error:
            _LOG.warning("Quotas of %s can't be read: %s", account.id, error)
            return kept.failed(str(error), now)


async def stored_use(stores: Stores, account: Account) -> QuotaUse:
    """Returns what an account uses of its quotas, as its pools, jobs and schedules are stored. Raises StorageError."""
    pools = (await stores.pools.load_known(account.key)).resources.values()
    jobs = (await stores.jobs.load_all(account.key)).values()
    schedules = (await stores.schedules.load_known(account.key)).resources.values()
    states = Counter(job.facts.state for job in jobs if not job.deleted)
    return quota_use(pools, active_jobs(states) + sum(one.is_live for one in schedules))
