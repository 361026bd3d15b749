"""Emulators stored in a directory, flushed and restarted on request, and compared with a full copy."""

from pathlib import Path

import orjson

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.persistence.rows import row_changes
from local.batch_emulator.persistence.store import Store
from local.batch_emulator.persistence_service import PersistenceService
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.batch_emulator.state.change_log import ROOT, Changes, NumberedEntity
from tests.emulator.support.direct import Direct

POOL = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 2, "taskSlotsPerNode": 2}

type Row = tuple[int, int, str, str]


class Kept(Direct):
    """A stepped emulator with stored accounts; `restart` continues in another one with the flushed data."""

    def __init__(self, directory: Path, seed: int = 1) -> None:
        super().__init__(seed)
        self.store = Store(directory)
        self._directory = directory
        self._seed = seed
        self._take_up(self.emulator)

    def flush(self) -> None:
        if batch := self.persistence.drain():
            self.store.write(batch)

    def restart(self) -> None:
        self.store.close()
        self.store = Store(self._directory)
        self._take_up(
            Emulator({"demo": DEVELOPMENT_KEY}, seed=self._seed, stepped=True, start=0, settings=self.emulator.settings)
        )

    def stored(self) -> set[Row]:
        return rows_of(self.store)

    def _take_up(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.persistence = PersistenceService(emulator, self.store)
        self.persistence.load(lambda _: None)


def busy(kept: Kept, tasks: int = 8, line: str = "sleep 60", nodes: int = 2) -> None:
    """Creates a pool and a job on it, with some tasks running."""
    assert kept.call("POST", "/pools", {**POOL, "targetDedicatedNodes": nodes})[0] == 201
    assert kept.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})[0] == 201
    rows = [{"id": f"t{number}", "commandLine": line} for number in range(tasks)]
    assert kept.call("POST", "/jobs/job/addtaskcollection", {"value": rows})[0] == 200
    kept.advance(60)


def rows_of(store: Store) -> set[Row]:
    """Returns all rows of a store except the emulator's own."""
    rows = store._database.execute("SELECT owner, number, kind, row FROM rows WHERE number != 0")
    return {(owner, number, kind, _shape(row)) for owner, number, kind, row in rows}


def everything(emulator: Emulator) -> set[Row]:
    """Returns the rows that a store must have, by visiting all objects."""
    notes = Changes()
    for simulation in emulator.simulations.values():
        account = simulation.account
        notes.changed[account] = ROOT
        owned: list[NumberedEntity] = [*account.pools.values(), *account.jobs.values(), *account.schedules.values()]
        notes.changed |= dict.fromkeys([*owned, *account.leases], account)
        for pool in account.pools.values():
            notes.changed |= dict.fromkeys(pool.nodes.values(), pool)
        for job in account.jobs.values():
            notes.changed |= dict.fromkeys(job.tasks, job)
            notes.changed |= dict.fromkeys(job.preparation_statuses.values(), job)
    notes.planned = {number: (due, event) for due, number, event in emulator.event_queue._due}
    rows = orjson.loads(row_changes(notes, emulator.owners, None).rows)
    return {(owner, number, kind, _shape(orjson.dumps(row))) for owner, number, kind, row in rows if number}


def _shape(row: str | bytes) -> str:
    return orjson.dumps(orjson.loads(row)).decode()
