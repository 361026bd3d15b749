"""The conditions for requests to Batch outside a round, which are those of a poll."""

from shared.clock import Clock
from shared.errors import BatchThrottledError, MonitoringOffError
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.batch.batch import BatchAccount


async def require_polling_allowed(source: BatchAccount, monitoring: MonitoringStore, clock: Clock) -> None:
    """Raises MonitoringOffError or BatchThrottledError if no request may be made now."""
    found, last = await monitoring.load_with_round(source.account.key)
    if found.off_reason:
        raise MonitoringOffError(source.account.id, found.off_reason)
    wait = last.wait(await clock.now()) if last else None
    if wait:
        raise BatchThrottledError(source.account.endpoint, wait)
