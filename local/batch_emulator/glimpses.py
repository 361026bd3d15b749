"""What nodes do, looked at every few seconds for whoever measures them: the simulation's whole part in telemetry.

A look costs some microseconds a node; measuring, packing and writing are somebody else's, on another thread. Nothing is
looked at without somebody who takes it. At most MOST_NODES nodes are looked at at a time, those that came first.
"""

import re
from collections import deque
from dataclasses import dataclass
from functools import partial

from local.batch_emulator.agenda import Agenda
from local.batch_emulator.entities import Account, Json, Node, Run
from local.batch_emulator.machines import Origin, machine_of
from local.batch_emulator.stage import Stage
from local.batch_emulator.stamps import SECOND
from local.batch_emulator.telemetry_written import Written

MOST_NODES = 64
PERIOD_SECONDS = 5.0
_MOST = 50_000  # glimpses that wait: more than an hour of MOST_NODES
_UP = frozenset(("waitingforstarttask", "starttaskfailed", "idle", "running", "offline"))
_LOST = frozenset(("preempted", "unusable"))
_LENGTH = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_OUT_OF_MEMORY = "exit 137"


@dataclass(frozen=True, slots=True)
class Work:
    """A task that runs: its share of the node, and for how many seconds, before the speed shortens them.

    `fills_up_in` are the seconds after which it will have no memory left; 0 for tasks that don't end that way.
    """

    job: str
    task: str
    share: float
    seconds: float
    fills_up_in: float = 0.0


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A node at a moment, in ticks by its own clock; `number` counts those of its life from 0."""

    origin: Origin
    number: int
    time: int
    is_starting: bool
    work: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """A node's life is over; `is_abrupt` where nobody could tell it so before."""

    origin: Origin
    is_abrupt: bool


@dataclass(slots=True)
class _Watched:
    origin: Origin
    seen: int = 0


class Watch:
    """One account's nodes. `lost` counts glimpses that nobody took in time, `unseen` nodes beyond MOST_NODES now."""

    def __init__(self, account: Account, stage: Stage) -> None:
        self._account = account
        self._stage = stage
        self._period, self._turn = 0.0, 0
        self._watched: dict[str, _Watched] = {}
        self._found: deque[Glimpse | Ending] = deque()
        self.written = Written()
        self.lost = self.unseen = 0

    def begin(self, period: float) -> None:
        """Looks every so many seconds from now on, whatever the speed, but not in pauses."""
        self._turn += 1
        self._period = period
        self._again(self._turn)

    def end(self) -> None:
        """Nobody takes anything any more."""
        self._turn += 1
        self._watched.clear()
        self._found.clear()

    def take(self) -> list[Glimpse | Ending]:
        """What was seen since it was asked last."""
        taken = list(self._found)
        self._found.clear()
        return taken

    def ends(self, node: Node, state: str) -> None:
        """To be called when a node's life ends, with the state that follows."""
        if watched := self._watched.pop(node.id, None):
            self._keep(Ending(watched.origin, state in _LOST))

    def _again(self, turn: int) -> None:
        self._stage.agenda.after_exactly(self._period, partial(self._look, turn))

    def _look(self, turn: int) -> None:
        if turn != self._turn:
            return
        self.unseen = 0
        for pool in self._account.pools.values():
            for node in pool.nodes.values():
                if node.state in _UP and node.booted is not None:
                    self._see(node, node.booted)
        self._again(turn)

    def _see(self, node: Node, booted: int) -> None:
        watched = self._watched.get(node.id)
        if watched is None:
            if len(self._watched) >= MOST_NODES:
                self.unseen += 1
                return
            watched = self._watched[node.id] = _Watched(_origin(node, booted))
        now, start = self._stage.node_now(node), node.start_task
        work = tuple(_work(run, now, self._stage.agenda) for run in node.running)
        self._keep(Glimpse(watched.origin, watched.seen, now, bool(start and start.ended is None), work))
        watched.seen += 1

    def _keep(self, found: Glimpse | Ending) -> None:
        self._found.append(found)
        if len(self._found) > _MOST:
            self._found.popleft()
            self.lost += 1

    @property
    def told(self) -> Json:
        """As JSON: what was seen and not taken, or not seen, and what its writer says it wrote."""
        return {"glimpsesLost": self.lost, "nodesBeyond": self.unseen, **self.written.told}


def _origin(node: Node, booted: int) -> Origin:
    pool = node.pool
    machine = machine_of(pool.vm_size)
    return Origin(pool.id, node.id, node.life, machine, not node.dedicated, node.ip, node.allocated, booted)


def _work(run: Run, now: int, agenda: Agenda) -> Work:
    task, line = run.task, str(run.task.spec["commandLine"])
    seconds = max(0.0, (now - run.started) / SECOND * agenda.speed)
    length = _LENGTH.search(line) if _OUT_OF_MEMORY in line else None
    share = min(1.0, task.slots / run.node.pool.slots_per_node)
    return Work(run.job.id, task.id, share, seconds, float(length[1]) if length else 0.0)
