"""Samples of nodes' activity every few seconds: the simulation's part in telemetry.

A sample costs some microseconds per node; metering, packing and writing happen on another thread. Nodes are sampled
only while a writer takes the samples: the first MAX_NODES nodes at a time.
"""

import re
from collections import deque
from dataclasses import dataclass
from functools import partial

from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.entities import Account, Json, Node, Run
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.telemetry.hardware import Origin, machine_of
from local.batch_emulator.telemetry.written_totals import Written

MAX_SAMPLED_NODES = 64
PERIOD_SECONDS = 5.0
_MAX_UNREAD = 50_000  # waiting samples: more than an hour of MAX_NODES
_UP = frozenset(("waitingforstarttask", "starttaskfailed", "idle", "running", "offline"))
_LOST = frozenset(("preempted", "unusable"))
_LENGTH = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_OUT_OF_MEMORY = "exit 137"


@dataclass(frozen=True, slots=True)
class Work:
    """A running task: its share of the node, and its seconds so far, before the speed shortens them.

    It runs out of memory after `fills_up_in` seconds; 0 for tasks that don't end that way.
    """

    job: str
    task: str
    share: float
    seconds: float
    fills_up_in: float = 0.0


@dataclass(frozen=True, slots=True)
class NodeSample:
    """A sample of a node at a moment, in ticks by the node's clock; `number` counts from 0 in each life."""

    origin: Origin
    number: int
    time: int
    is_starting: bool
    work: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a node's life; `is_abrupt` if the node got no notice."""

    origin: Origin
    is_abrupt: bool


@dataclass(slots=True)
class _Watched:
    origin: Origin
    seen: int = 0


class NodeSampler:
    """The sampler of one account's nodes.

    `lost` counts samples dropped unread, `unseen` nodes beyond MAX_NODES now.
    """

    def __init__(self, account: Account, context: SimulationContext) -> None:
        self._account = account
        self._context = context
        self._period, self._turn = 0.0, 0
        self._watched: dict[str, _Watched] = {}
        self._found: deque[NodeSample | Ending] = deque()
        self.written = Written()
        self.lost = self.unseen = 0

    def begin(self, period: float) -> None:
        """Starts sampling every `period` seconds at any speed, but not in pauses."""
        self._turn += 1
        self._period = period
        self._again(self._turn)

    def end(self) -> None:
        """Stops sampling."""
        self._turn += 1
        self._watched.clear()
        self._found.clear()

    def drain(self) -> list[NodeSample | Ending]:
        """Returns the samples since the last call."""
        taken = list(self._found)
        self._found.clear()
        return taken

    def end_session(self, node: Node, state: str) -> None:
        """Records the end of a node's life; called with the state that follows."""
        if watched := self._watched.pop(node.id, None):
            self._keep(Ending(watched.origin, state in _LOST))

    def _again(self, turn: int) -> None:
        self._context.event_queue.after_exactly(self._period, partial(self._look, turn))

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
            if len(self._watched) >= MAX_SAMPLED_NODES:
                self.unseen += 1
                return
            watched = self._watched[node.id] = _Watched(_origin(node, booted))
        now, start = self._context.node_now(node), node.start_task
        work = tuple(_work(run, now, self._context.event_queue) for run in node.running)
        self._keep(NodeSample(watched.origin, watched.seen, now, bool(start and start.ended is None), work))
        watched.seen += 1

    def _keep(self, found: NodeSample | Ending) -> None:
        self._found.append(found)
        if len(self._found) > _MAX_UNREAD:
            self._found.popleft()
            self.lost += 1

    @property
    def totals(self) -> Json:
        """Lost samples, unsampled nodes, and the writer's totals, as JSON."""
        return {"glimpsesLost": self.lost, "nodesBeyond": self.unseen, **self.written.totals}


def _origin(node: Node, booted: int) -> Origin:
    pool = node.pool
    machine = machine_of(pool.vm_size)
    return Origin(pool.id, node.id, node.life, machine, not node.dedicated, node.ip, node.allocated, booted)


def _work(run: Run, now: int, event_queue: EventQueue) -> Work:
    task, line = run.task, str(run.task.spec["commandLine"])
    seconds = max(0.0, (now - run.started) / SECOND * event_queue.speed)
    length = _LENGTH.search(line) if _OUT_OF_MEMORY in line else None
    share = min(1.0, task.slots / run.node.pool.slots_per_node)
    return Work(run.job.id, task.id, share, seconds, float(length[1]) if length else 0.0)
