"""The whole: accounts, time, what happens by itself, counters. The server and the controls work on it."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from local.batch_emulator.agenda import Agenda
from local.batch_emulator.clock import Clock
from local.batch_emulator.entities import Account, Json, Pool
from local.batch_emulator.injection import Faults
from local.batch_emulator.settings import Knobs
from local.batch_emulator.simulation import Simulation, task_counts
from local.batch_emulator.stamps import stamp


class Emulator:
    def __init__(self, keys: Mapping[str, str], *, token: str, seed: int, speed: float, stepped: bool) -> None:
        self.keys = {name.lower(): key for name, key in keys.items()}
        self.default = next(iter(self.keys))
        self.token = token
        self.speed = speed
        self.clock = Clock(stepped=stepped)
        self.agenda = Agenda(self.clock, speed)
        self.epoch = 0
        self._seed = seed
        self._start()

    def _start(self) -> None:
        self.knobs = Knobs()
        self.faults = Faults()
        self.counters: dict[str, Counter[str]] = defaultdict(Counter)
        self.task_lists: dict[str, Counter[str]] = defaultdict(Counter)
        self.accounts = {name: Account(name, key) for name, key in self.keys.items()}
        self.simulations = {
            name: Simulation(account, self.clock, self.agenda, self.knobs, self._seed)
            for name, account in self.accounts.items()
        }

    def reset(self) -> None:
        """Back to the start: no jobs, no pools, no faults, counters at nought; clients see another epoch."""
        self.agenda.clear()
        self.epoch += 1
        self._start()

    def count(self, route: str, path: str, items: int) -> None:
        self.counters[route].update(requests=1, items=items)
        if route == "GET /jobs/{jobId}/tasks":
            self.task_lists[path].update(requests=1, items=items)

    def truth(self) -> Json:
        """What every list would show at this instant."""
        self.agenda.run_due()
        return {
            "time": stamp(self.clock.now),
            "accounts": {name: _account_truth(account) for name, account in self.accounts.items()},
        }


def _account_truth(account: Account) -> Json:
    jobs = {}
    for job in account.jobs.values():
        found = task_counts(job)
        states = {name: found[name] for name in ("active", "preparing", "running", "completed", "succeeded", "failed")}
        jobs[job.id] = {"state": job.state, **states, "total": len(job.tasks)}
    return {"jobs": jobs, "pools": {pool.id: _pool_truth(pool) for pool in account.pools.values()}}


def _pool_truth(pool: Pool) -> Json:
    nodes = pool.nodes.values()
    return {
        "nodes": dict(Counter(node.state for node in nodes)),
        "dedicated": sum(node.dedicated for node in nodes),
        "spot": sum(not node.dedicated for node in nodes),
        "slotsUsed": sum(task.slots for node in nodes for task in node.tasks.values()),
        "slotsTotal": len(pool.nodes) * pool.slots_per_node,
    }
