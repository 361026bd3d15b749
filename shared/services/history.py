"""Moves samples from resources' rows to their histories, so that each history is complete.

A resource's row holds its present sample and those that ended and aren't in its history. They go there before they
leave the row, so a sample ends with the row's ETag, whoever noticed first. After a crash in between, or where another
process wins the race for the row, the same is written once more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from shared.domain.history.grains import HistoryRetention, HistorySample
from shared.domain.history.samples import rows_of
from shared.stores.history import HistoryStore


class SampledResource(Protocol):
    """A frozen dataclass whose row holds samples: `ended` ones in order, and with `samples` the present one, too."""

    @property
    def key(self) -> str: ...

    @property
    def ended(self) -> Sequence[HistorySample[Any]]: ...

    @property
    def samples(self) -> Sequence[HistorySample[Any]]: ...


class SampledRows[R: SampledResource](Protocol):
    """The table of such resources."""

    async def is_stored(self, account_key: str, resource: R, /) -> bool: ...

    async def delete(self, account_key: str, resource: R, /) -> None: ...


class HistoryRecords[R: SampledResource]:
    def __init__(self, rows: SampledRows[R], history: HistoryStore, retention: HistoryRetention) -> None:
        self._rows = rows
        self._history = history
        self._retention = retention

    async def moved(self, account_key: str, resources: Iterable[R]) -> dict[str, R]:
        """Writes the samples that ended, except the last, to the histories; returns the resources to store, by key.

        Raises StorageError.
        """
        due = {one.key: one for one in resources if one.ended[:-1]}
        await self._history.save(
            account_key, {key: rows_of(one.ended[:-1], one.ended[-1], self._retention) for key, one in due.items()}
        )
        return {key: replace(one, ended=one.ended[-1:]) for key, one in due.items()}  # type: ignore[type-var]

    async def forget(self, account_key: str, resource: R) -> None:
        """Deletes a row after writing its last samples to its history, which has its own retention.

        If another process has written the row since, these samples aren't written over later ones. Raises
        CacheConflictError, StorageError.
        """
        if resource.samples and await self._rows.is_stored(account_key, resource):
            await self._history.save(account_key, {resource.key: rows_of(resource.samples, None, self._retention)})
        await self._rows.delete(account_key, resource)
