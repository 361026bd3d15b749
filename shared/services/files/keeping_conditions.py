"""On what it depends now whether outputs of an account are kept, for reasons why one isn't."""

from shared.domain.accounts.accounts import Account
from shared.domain.outputs.output_limits import OutputLimits
from shared.domain.outputs.unkept_outputs import KeepingConditions
from shared.services.accounts.registry import Registry
from shared.stores.jobs.outputs import OutputStore


async def keeping_conditions(
    registry: Registry, store: OutputStore, limits: OutputLimits, account: Account, pool_id: str
) -> KeepingConditions:
    """Returns the conditions for outputs of a pool. Raises StorageError."""
    watch, last = await registry.watch_and_round(account.key)
    now = await registry.clock.now()
    return KeepingConditions(
        now,
        limits.kept_for(account.id, pool_id),
        (await store.load_spent(account.key)).at(now),
        limits.each(account.id, pool_id),
        limits.rate(account.id),
        is_watched=watch.monitoring.off_reason is None,
        has_polls=last is None or (last.succeeded and last.wait(now) is None),
    )
