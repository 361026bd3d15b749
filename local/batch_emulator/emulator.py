"""The complete emulator: accounts, time, simulation, faults and counters, for the server and the controls."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.injection import FaultList
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Account, Json
from local.batch_emulator.persistence.rows import EventOwners
from local.batch_emulator.prices.price_list import PriceList
from local.batch_emulator.protocol.auth import DEVELOPMENT_TOKEN, Credentials
from local.batch_emulator.protocol.tokens import TokenKey
from local.batch_emulator.simulation.simulation import SimulatedAccount
from local.batch_emulator.state.change_log import ROOT, ChangeLog
from local.batch_emulator.state.event_log import EventLog
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.state.scheduled_events import ScheduledEvents
from local.batch_emulator.telemetry.samplers import NodeSampler
from local.batch_emulator.wire.jobs import true_counts
from local.batch_emulator.wire.pools import true_nodes

_TASK_LIST = "GET /jobs/{jobId}/tasks"


class Emulator:
    """The emulator. `keys` are by account name; bearer tokens open the first account by default."""

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
        settings: EmulatorSettings | None = None,
    ) -> None:
        self.credentials = Credentials({name.lower(): key for name, key in keys.items()}, token, token_key)
        self.clock = Clock(stepped=stepped, start=start)
        self.change_log = ChangeLog()
        self.event_queue = EventQueue(self.clock, speed, self.change_log)
        self.settings = settings or EmulatorSettings()
        self.faults = FaultList()
        self.prices = PriceList()
        self.epoch = 0
        self._initial_settings = replace(self.settings)
        self._initial_speed = speed
        self.seed = seed
        self._is_logging = False
        self._sampling_period = 0.0
        self.scheduled_events = ScheduledEvents()
        self._create_simulations()

    def reset(self) -> None:
        """Empties accounts, faults and counters, and resets settings, prices and speed; time goes on."""
        self.epoch += 1
        self.event_queue.clear()
        self.change_log.clear()
        self.event_queue.speed = self._initial_speed
        self.faults.clear()
        self.prices = PriceList()
        self.scheduled_events = ScheduledEvents()
        self.settings.copy_from(self._initial_settings)
        self.resume()
        self._create_simulations()

    def pause(self) -> None:
        """Stops events while dates continue. Events already due run now, before the pause."""
        self.clock.pause()
        while self.event_queue.run_due():
            continue

    def resume(self) -> None:
        self.clock.resume()
        self.event_queue.wake()

    @property
    def logs(self) -> list[EventLog]:
        """The resource logs of all accounts."""
        return [simulation.context.log for simulation in self.simulations.values()]

    def log_events(self) -> None:
        """Starts logging events; the caller must drain the logs."""
        self._is_logging = True
        for log in self.logs:
            log.is_enabled = True

    @property
    def samplers(self) -> dict[str, NodeSampler]:
        """The samplers of nodes, by account."""
        return {name: simulation.sampler for name, simulation in self.simulations.items()}

    def sample_nodes(self, period: float) -> None:
        """Samples nodes every `period` seconds; the caller must drain the samplers. 0 stops it."""
        self._sampling_period = period
        for sampler in self.samplers.values():
            if period:
                sampler.begin(period)
            else:
                sampler.end()

    def count_request(self, route: str, path: str, items: int, client: str = "", *, read: int = 0) -> None:
        """Counts a request that its route answered: by it, by the client's User-Agent, and task lists also by path.

        `read` bytes of a file are counted by the route.
        """
        self.clients[client].update(requests=1, items=items)
        self.counters[route].update({"requests": 1, "items": items} | ({"bytes": read} if read else {}))
        if route == _TASK_LIST:
            self.task_lists[path].update(requests=1, items=items)

    def truth(self) -> Json:
        """Returns the state that every list would show now."""
        return {
            "time": stamp(self.clock.now),
            "accounts": {name: _truth(each.account) for name, each in self.simulations.items()},
        }

    @property
    def state(self) -> tuple[int | None, ...]:
        """The arguments of `restore`: the last entity number, the time shown, then values that change rarely."""
        latest, paused_total, paused_at = self.clock.stored_state
        return self.change_log.last_number, latest, self.epoch, paused_total, paused_at

    def restore(self, last: int, latest: int, epoch: int, paused_total: int, paused_at: int | None) -> None:
        """Continues numbers, time and epoch; reseeds the random source, so that names of nodes don't repeat."""
        self.change_log.last_number, self.epoch = last, epoch
        self.clock.restore(latest, paused_total, paused_at)
        for name, simulation in self.simulations.items():
            simulation.context.rng.seed(f"{self.seed}/{name}/{last}")

    @property
    def owners(self) -> EventOwners:
        """The objects whose methods are planned events, with their account and stored name."""
        simulations = self.simulations.values()
        return {owner: (each.account, name) for each in simulations for name, owner in each.transitions.items()}

    def _create_simulations(self) -> None:
        self.counters: dict[str, Counter[str]] = defaultdict(Counter)
        self.task_lists: dict[str, Counter[str]] = defaultdict(Counter)
        self.clients: dict[str, Counter[str]] = defaultdict(Counter)
        self.simulations = {
            name: SimulatedAccount(
                Account(name, self.change_log.next_number()),
                self.clock,
                self.event_queue,
                self.settings,
                self.change_log,
                seed=str(self.seed),
                late_seconds=self.faults.late_report_seconds,
            )
            for name in self.credentials.keys
        }
        if self._is_logging:
            self.log_events()
        if self._sampling_period:
            self.sample_nodes(self._sampling_period)
        for simulation in self.simulations.values():
            self.change_log.mark_changed(simulation.account, ROOT)


def _truth(account: Account) -> Json:
    jobs = {job.id: {"state": job.state, **_counts(true_counts(job))} for job in account.jobs.values()}
    counters = {pool: dict(counted) for pool, counted in sorted(account.task_counters.items())}
    return {
        "jobs": jobs,
        "pools": {pool.id: true_nodes(pool) for pool in account.pools.values()},
        "taskCounters": counters,
    }


def _counts(found: Json) -> Json:
    names = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")
    return {name: found[name] for name in names}
