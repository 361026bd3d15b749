"""How long tasks on a pool waited by cause, over time, from storage and without requests to Batch."""

from dataclasses import dataclass

from shared.domain.core.keys import key_of
from shared.domain.history.grains import MINUTES
from shared.domain.history.points import Series
from shared.domain.jobs.waited_history import GRAINS, decode_waited, waited_in, waited_samples
from shared.domain.jobs.waiting_causes import MAX_GAP, ByCause
from shared.services.accounts.registry import Registry
from shared.stores.history import HistoryStore, reading_of
from shared.stores.jobs.waiting_causes import WaitingCauseStore


@dataclass(frozen=True, slots=True)
class WaitedHistories:
    """Histories of time waited; `causes` are the last passes over waiting jobs, `history` has the earlier ones."""

    registry: Registry
    causes: WaitingCauseStore
    history: HistoryStore

    async def read(self, account_id: str, pool_id: str, series: Series) -> list[ByCause | None]:
        """Returns milliseconds waited by cause in each step, None where no pass covers it.

        Raises NotFoundError, StorageError.
        """
        account, pool = self.registry.account(account_id), key_of(pool_id)
        causes = await self.causes.load(account.key)  # before the history, where its samples may be next
        wanted, grain = series.with_step_before(), GRAINS[0 if series.grain is MINUTES else 1]
        rows = wanted.rows(max(series.step, MAX_GAP))
        if rows is None:
            return []
        stored = await self.history.load(account.key, pool, grain, first=rows[0], last=rows[1])
        read = reading_of(decode_waited, grain, f"the pool '{pool_id}' of {account.id}")
        samples = {sample.at: sample for slot, text in stored if (sample := read(slot, text))}
        samples |= {sample.at: sample for sample in waited_samples(causes, pool)}
        return list(waited_in(series, [samples[at] for at in sorted(samples)]))
