"""Keeps the accounts of an emulator in a store while it runs, and fetches them back at its start.

Every so often, between two requests, what has changed is written down at one stroke, and a thread stores it while
requests go on. What a killed emulator loses is what came after: less than a second. Faults, knobs, counters and the
speed are the run's own and are not kept.
"""

import asyncio
import contextlib
import gc

import orjson

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.ledger import ROOT
from local.batch_emulator.restore import Restorer, Told
from local.batch_emulator.rows import Batch, batch_of
from local.batch_emulator.store import Store

_SECONDS = 0.2


class Keeper:
    def __init__(self, emulator: Emulator, store: Store) -> None:
        self._emulator = emulator
        self._store = store
        self._over = asyncio.Event()
        self._told_of: object = None

    def load(self, told: Told) -> None:
        """Fills the accounts that the emulator serves, which are empty yet; from then on they are kept.

        Accounts that it doesn't serve stay in the store as they are. Raises StoreError.
        """
        emulator = self._emulator
        numbers: dict[str, int] = {}
        for number, kind, row in self._store.rows(ROOT.number):
            if kind == "account":
                numbers[orjson.loads(row)[0]] = number
            else:
                emulator.take_up(*orjson.loads(row))
        emulator.ledger.is_kept = True
        gc.disable()
        try:
            for name, simulation in emulator.simulations.items():
                simulation.account.number = numbers.get(name) or emulator.ledger.number()
                emulator.ledger.note(simulation.account, ROOT)
                restorer = Restorer(simulation, self._store, told)
                restorer.run()
                self._store.write(Batch(wiped=False, there=b"[]", gone=orjson.dumps(restorer.dropped), owners=()))
        finally:
            gc.enable()

    async def run(self) -> None:
        """Until `finish`. Raises StoreError, for what can't be kept any more must not go on unnoticed."""
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _SECONDS)
            await self.flush()

    def finish(self) -> None:
        self._over.set()

    async def flush(self) -> None:
        """Stores what has changed until now. Raises StoreError."""
        if batch := self.take():
            await asyncio.to_thread(self._store.write, batch)

    def take(self) -> Batch | None:
        """What has changed since the last time, if anything has."""
        emulator = self._emulator
        notes, state = emulator.ledger.take(), emulator.state
        if not notes and state[2:] == self._told_of and self._store.is_tidy:
            return None
        self._told_of = state[2:]
        return batch_of(notes, emulator.places, state)
