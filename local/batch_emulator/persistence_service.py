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
from local.batch_emulator.persistence.restore import AccountReader, ReportProgress
from local.batch_emulator.persistence.rows import RowChanges, row_changes
from local.batch_emulator.persistence.store import Store
from local.batch_emulator.state.change_log import ROOT

_SECONDS = 0.2


class PersistenceService:
    def __init__(self, emulator: Emulator, store: Store) -> None:
        self._emulator = emulator
        self._store = store
        self._stopping = asyncio.Event()
        self._stored_state: object = None

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
        emulator.change_log.is_enabled = True
        gc.disable()
        try:
            for name, simulation in emulator.simulations.items():
                simulation.account.number = numbers.get(name) or emulator.change_log.next_number()
                emulator.change_log.mark_changed(simulation.account, ROOT)
                reader = AccountReader(simulation, self._store, report)
                reader.restore()
                self._store.write(
                    RowChanges(cleared=False, rows=b"[]", deleted=orjson.dumps(reader.dropped), deleted_owners=())
                )
        finally:
            gc.enable()

    async def run(self) -> None:
        """Stores changes until `stop`. Raises StoreError, as unstored changes must not go unnoticed."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _SECONDS)
            await self.flush()

    def stop(self) -> None:
        self._stopping.set()

    async def flush(self) -> None:
        """Stores all changes so far. Raises StoreError."""
        if changes := self.drain():
            await asyncio.to_thread(self._store.write, changes)

    def drain(self) -> RowChanges | None:
        """Returns the changes since the last call; None if there are none."""
        emulator = self._emulator
        changes, state = emulator.change_log.drain(), emulator.state
        if not changes and state[2:] == self._stored_state and self._store.is_swept:
            return None
        self._stored_state = state[2:]
        return row_changes(changes, emulator.owners, state)
