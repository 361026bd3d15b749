"""The whole: accounts, time, what happens by itself, faults and counters. The server and the controls work on it."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from local.batch_emulator.agenda import Agenda
from local.batch_emulator.auth import DEVELOPMENT_TOKEN, Credentials
from local.batch_emulator.clock import Clock
from local.batch_emulator.entities import Account, Json
from local.batch_emulator.event_log import EventLog
from local.batch_emulator.glimpses import Watch
from local.batch_emulator.injection import Faults
from local.batch_emulator.ledger import ROOT, Ledger
from local.batch_emulator.rows import Places
from local.batch_emulator.settings import Knobs
from local.batch_emulator.simulation import Simulation
from local.batch_emulator.stamps import stamp
from local.batch_emulator.tokens import TokenKey
from local.batch_emulator.wire_jobs import true_counts
from local.batch_emulator.wire_pools import true_nodes

_TASK_LIST = "GET /jobs/{jobId}/tasks"


class Emulator:
    """`keys` by account name; the first account is the one that bearer tokens open by default."""

    def __init__(
        self,
        keys: Mapping[str, str],
        *,
        token: str = DEVELOPMENT_TOKEN,
        token_key: TokenKey | None = None,
        seed: int = 1,
        speed: float = 1.0,
        stepped: bool = False,
        start: int | None = None,
        knobs: Knobs | None = None,
    ) -> None:
        self.credentials = Credentials({name.lower(): key for name, key in keys.items()}, token, token_key)
        self.clock = Clock(stepped=stepped, start=start)
        self.ledger = Ledger()
        self.agenda = Agenda(self.clock, speed, self.ledger)
        self.knobs = knobs or Knobs()
        self.faults = Faults()
        self.epoch = 0
        self._first_knobs = replace(self.knobs)
        self._first_speed = speed
        self.seed = seed
        self._logs_events = False
        self._watches_every = 0.0
        self._begin()

    def reset(self) -> None:
        """Empty accounts, no faults, counters at nought, knobs and speed as at the start; time goes on."""
        self.epoch += 1
        self.agenda.clear()
        self.ledger.wipe()
        self.agenda.speed = self._first_speed
        self.faults.clear()
        self.knobs.take(self._first_knobs)
        self.resume()
        self._begin()

    def pause(self) -> None:
        """Nothing happens any more; dates run on. What was due already happens now, not in the midst of the pause."""
        self.clock.pause()
        while self.agenda.run_due():
            continue

    def resume(self) -> None:
        self.clock.resume()
        self.agenda.wake()

    @property
    def logs(self) -> list[EventLog]:
        """The resource logs of all accounts."""
        return [simulation.stage.log for simulation in self.simulations.values()]

    def log_events(self) -> None:
        """From now on what happens is logged, for somebody who takes it."""
        self._logs_events = True
        for log in self.logs:
            log.is_on = True

    @property
    def watches(self) -> dict[str, Watch]:
        """Who looks at the nodes of each account."""
        return {name: simulation.watch for name, simulation in self.simulations.items()}

    def watch_nodes(self, period: float) -> None:
        """From now on nodes are looked at every so many seconds, for somebody who takes what is seen; 0 ends it."""
        self._watches_every = period
        for watch in self.watches.values():
            if period:
                watch.begin(period)
            else:
                watch.end()

    def count(self, route: str, path: str, items: int, client: str = "") -> None:
        """Counts a request that was let in: by route, by the client's User-Agent, and task lists by path too."""
        self.clients[client].update(requests=1, items=items)
        self.counters[route].update(requests=1, items=items)
        if route == _TASK_LIST:
            self.task_lists[path].update(requests=1, items=items)

    def truth(self) -> Json:
        """What every list would show at this instant."""
        return {
            "time": stamp(self.clock.now),
            "accounts": {name: _truth(each.account) for name, each in self.simulations.items()},
        }

    @property
    def state(self) -> tuple[int | None, ...]:
        """What `take_up` needs: the last number given, the time shown, then what changes rarely."""
        latest, lost, paused_at = self.clock.kept
        return self.ledger.last, latest, self.epoch, lost, paused_at

    def take_up(self, last: int, latest: int, epoch: int, lost: int, paused_at: int | None) -> None:
        """Goes on in numbers, time and epoch; chance, of which nodes get their names, doesn't repeat itself."""
        self.ledger.last, self.epoch = last, epoch
        self.clock.take_up(latest, lost, paused_at)
        for name, simulation in self.simulations.items():
            simulation.stage.chance.seed(f"{self.seed}/{name}/{last}")

    @property
    def places(self) -> Places:
        """Who plans things that are kept: the account, and the name there."""
        simulations = self.simulations.values()
        return {life: (each.account, name) for each in simulations for name, life in each.lives.items()}

    def _begin(self) -> None:
        self.counters: dict[str, Counter[str]] = defaultdict(Counter)
        self.task_lists: dict[str, Counter[str]] = defaultdict(Counter)
        self.clients: dict[str, Counter[str]] = defaultdict(Counter)
        self.simulations = {
            name: Simulation(
                Account(name, self.ledger.number()),
                self.clock,
                self.agenda,
                self.knobs,
                self.ledger,
                seed=str(self.seed),
                late=self.faults.late_report_seconds,
            )
            for name in self.credentials.keys
        }
        if self._logs_events:
            self.log_events()
        if self._watches_every:
            self.watch_nodes(self._watches_every)
        for simulation in self.simulations.values():
            self.ledger.note(simulation.account, ROOT)


def _truth(account: Account) -> Json:
    jobs = {job.id: {"state": job.state, **_counts(true_counts(job))} for job in account.jobs.values()}
    return {"jobs": jobs, "pools": {pool.id: true_nodes(pool) for pool in account.pools.values()}}


def _counts(found: Json) -> Json:
    names = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")
    return {name: found[name] for name in names}
