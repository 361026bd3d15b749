"""Answers from storage about what Azure retires, and which pools that concerns."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.domain.jobs.jobs import COMPLETED
from shared.domain.retirements.announcements import Announcement, unread_since, with_more
from shared.domain.retirements.app_properties import app_properties
from shared.domain.retirements.retirements import Retirement, jobs_by_pool, retirements
from shared.domain.retirements.supported_images import announcements_in, unknown_images
from shared.log import logger
from shared.services.accounts.registry import Registry
from shared.stores.accounts.supported_images import SupportedImageStore
from shared.stores.batch.batch_addresses import API_VERSION
from shared.stores.stores import Stores

_LOG = logger(__name__)
_KEPT = timedelta(minutes=10)  # images are listed once a day


@dataclass(frozen=True, slots=True)
class AccountAnnouncements:
    """The announcements for an account in order, and a sentence on what isn't known of its images, if anything."""

    entries: Sequence[Announcement]
    unknown: str


@dataclass(frozen=True, slots=True)
class RetirementsReport:
    """All retirements, and sentences on accounts of whose images not all is known, by account id."""

    retirements: Sequence[Retirement]
    unknown: Mapping[str, str]


@dataclass(slots=True)
class Announcements:
    """The announcements for each account: the packaged ones, the deployment's own, and those of supported images."""

    registry: Registry
    images: SupportedImageStore
    own: Sequence[Announcement]
    _kept: dict[str, tuple[datetime, AccountAnnouncements]] = field(default_factory=dict)

    async def of_account(self, account_key: str) -> AccountAnnouncements:
        """Returns the announcements for an account. Raises StorageError."""
        now = await self.registry.clock.now()
        if not self._kept:
            for line in unread_since(self.own, now.date()):
                _LOG.warning("The setting RETIREMENTS has an entry that should be read again: %s", line)
        until, announced = self._kept.get(account_key, (now, None))
        if announced is None or now >= until:
            images = await self.images.load(account_key)
            entries = with_more(announcements_in(images) if images else (), own=self.own)
            announced = AccountAnnouncements(entries, unknown_images(images, now))
            self._kept[account_key] = now if announced.unknown else now + _KEPT, announced
        return announced


class RetirementQueries:
    def __init__(self, registry: Registry, stores: Stores, announced: Announcements, host: tuple[str, str]) -> None:
        """`host` are the app's Functions plan and runtime, as Azure names them; empty where they aren't known."""
        self._registry = registry
        self._jobs, self._pools = stores.jobs, stores.pools
        self._announced = announced
        self._host = host

    async def retirements(self, accounts: Collection[str]) -> RetirementsReport:
        """Returns all retirements with the pools of these watched accounts, given by id.

        Raises StorageError.
        """
        pools, jobs = {}, {}
        keys = {name: self._registry.accounts[name].key for name in sorted(accounts)}
        for name, key in keys.items():
            stored = await self._pools.load_known(key)
            pools[name] = [stored.resources[pool] for pool in sorted(stored.resources)]
            known = (await self._jobs.load_known(key)).jobs.values()
            live = (job.facts for job in known if not job.deleted and job.facts.state != COMPLETED)
            jobs[name] = jobs_by_pool(facts.pool_id for facts in live)
        announced = await asyncio.gather(*map(self._announced.of_account, keys.values()))
        by_account = {name: one.entries for name, one in zip(keys, announced, strict=True)}
        unknown = {name: one.unknown for name, one in zip(keys, announced, strict=True) if one.unknown}
        today = (await self._registry.clock.now()).date()
        app = app_properties(API_VERSION, *self._host)
        general = with_more(own=self._announced.own)
        return RetirementsReport(retirements(by_account, pools, jobs, today, app, general=general), unknown)
