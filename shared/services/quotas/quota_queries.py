"""Answers from storage about accounts' quotas."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.findings.finding import Finding
from shared.domain.quotas.account_quotas import Quota, StoredQuotas, quotas_of
from shared.domain.quotas.quota_findings import quota_finding
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.domain.quotas.quota_use import quota_use
from shared.services.accounts.registry import Registry
from shared.services.quotas.quota_reader import stored_use
from shared.stores.stores import Stores


@dataclass(frozen=True, slots=True)
class QuotasReport:
    """An account's quotas, its `unknown_nodes`, whose cores are in no use, and the findings on quotas."""

    account: Account
    stored: StoredQuotas
    quotas: Sequence[Quota]
    unknown_nodes: int
    findings: Sequence[Finding]

    @property
    def as_of(self) -> datetime | None:
        """When limits were read last, None where they never were."""
        return self.stored.limits.as_of if self.stored.limits else None


class QuotaQueries:
    def __init__(self, registry: Registry, stores: Stores, settings: QuotaSettings) -> None:
        self._registry = registry
        self._stores = stores
        self._settings = settings

    async def of_account(self, account_id: str) -> QuotasReport:
        """Returns an account's quotas with their present use. Raises NotFoundError, StorageError."""
        account = self._registry.account(account_id)
        use, stored = await stored_use(self._stores, account), await self._stores.quotas.load(account.key)
        now = await self._registry.clock.now()
        quotas = quotas_of(stored, use, now, self._settings.unread(account))
        as_of = stored.limits.as_of if stored.limits else now
        found = [quota_finding(account.id, quota, as_of, now) for quota in quotas]
        return QuotasReport(account, stored, quotas, use.unknown_nodes, [one for one in found if one])

    async def with_active(self, account: Account, active: int) -> Sequence[Quota]:
        """Returns an account's quotas, given its number of active jobs and job schedules. Raises StorageError."""
        pools = (await self._stores.pools.load_known(account.key)).resources.values()
        stored, now = await self._stores.quotas.load(account.key), await self._registry.clock.now()
        return quotas_of(stored, quota_use(pools, active), now, self._settings.unread(account))

    async def problems(self) -> dict[str, str]:
        """Returns a sentence for each account whose quotas can't be read, by id. Raises StorageError."""
        found = dict[str, str]()
        for account in self._registry.accounts.values():
            if self._settings.requests_for(account):
                found[account.id] = (await self._stores.quotas.load(account.key)).problem
        return {name: problem for name, problem in found.items() if problem}
