"""Stores the accounts of a running emulator, and restores them at its start.

Every 0.2 seconds, between two requests, all changes are captured in one step, and a thread stores them while requests
go on. A killed emulator loses only later changes: less than a second. Faults, settings, counters and the speed belong
to a run and aren't stored.
"""

import asyncio
import contextlib
import gc

import orjson

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.persistence.restore import ReportProgress, Restorer
from local.batch_emulator.persistence.rows import Batch, batch_of
from local.batch_emulator.persistence.store import Store
from local.batch_emulator.state.change_log import ROOT

_SECONDS = 0.2


class Keeper:
    def __init__(self, emulator: Emulator, store: Store) -> None:
        self._emulator = emulator
        self._store = store
        self._over = asyncio.Event()
        self._told_of: object = None

    def load(self, report: ReportProgress) -> None:
        """Fills the emulator's accounts, which must be empty; from then on they are stored.

        Accounts in the store that it doesn't serve stay unchanged. Raises StoreError.
        """
        emulator = self._emulator
        numbers: dict[str, int] = {}
        for number, kind, row in self._store.rows(ROOT.number):
            if kind == "account":
                numbers[orjson.loads(row)[0]] = number
            else:
                emulator.restore(*orjson.loads(row))
        emulator.change_log.is_kept = True
        gc.disable()
        try:
            for name, simulation in emulator.simulations.items():
                simulation.account.number = numbers.get(name) or emulator.change_log.number()
                emulator.change_log.note(simulation.account, ROOT)
                restorer = Restorer(simulation, self._store, report)
                restorer.run()
                self._store.write(Batch(wiped=False, there=b"[]", gone=orjson.dumps(restorer.dropped), owners=()))
        finally:
            gc.enable()

    async def run(self) -> None:
        """Stores changes until `finish`. Raises StoreError, as unstored changes must not go unnoticed."""
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _SECONDS)
            await self.flush()

    def finish(self) -> None:
        self._over.set()

    async def flush(self) -> None:
        """Stores all changes so far. Raises StoreError."""
        if batch := self.take():
            await asyncio.to_thread(self._store.write, batch)

    def take(self) -> Batch | None:
        """Returns the changes since the last call, if any."""
        emulator = self._emulator
        changes, state = emulator.change_log.take(), emulator.state
        if not changes and state[2:] == self._told_of and self._store.is_tidy:
            return None
        self._told_of = state[2:]
        return batch_of(changes, emulator.owners, state)
