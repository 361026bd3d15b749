"""Samples of nodes' activity every few seconds: the simulation's part in telemetry.

A sample costs some microseconds per node; metering, packing and writing happen on another thread. Nodes are sampled
only while a writer drains the samples: the first MAX_SAMPLED_NODES nodes at a time, without pools that have an agent.
"""

import re
from collections import deque
from dataclasses import dataclass
from functools import partial

from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.entities import Account, Json, Node, Run
from local.batch_emulator.state.command_lines import exit_code
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.telemetry.hardware import AgentSession, hardware_of
from local.batch_emulator.telemetry.written_totals import WrittenTotals

MAX_SAMPLED_NODES = 64
PERIOD_SECONDS = 5.0
_MAX_UNREAD = 50_000  # waiting samples: more than an hour of MAX_SAMPLED_NODES
_SAMPLED_STATES = frozenset(("waitingforstarttask", "starttaskfailed", "idle", "running", "offline"))
_ABRUPT_END_STATES = frozenset(("preempted", "unusable"))
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_KILLED = 137


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A running task: its share of the node, and its seconds so far, before the speed shortens them.

    It runs out of memory after `memory_full_after` seconds; 0 for tasks that don't end that way. `started` is in ticks
    by the node's clock.
    """

    job: str
    task: str
    share: float
    seconds: float
    memory_full_after: float = 0.0
    started: int = 0


@dataclass(frozen=True, slots=True)
class NodeSample:
    """A sample of a node at a moment, in ticks by the node's clock; `number` counts from 0 in each session."""

    session: AgentSession
    number: int
    time: int
    is_starting: bool
    running_tasks: tuple[RunningTask, ...]


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The end of a session; `is_abrupt` if the node got no notice."""

    session: AgentSession
    is_abrupt: bool


@dataclass(slots=True)
class _SampledNode:
    session: AgentSession
    samples: int = 0


class NodeSampler:
    """The sampler of one account's nodes.

    `lost` counts samples dropped unread, `unsampled` nodes beyond MAX_SAMPLED_NODES now.
    """

    def __init__(self, account: Account, context: SimulationContext) -> None:
        self._account = account
        self._context = context
        self._period, self._turn = 0.0, 0
        self._sampled: dict[str, _SampledNode] = {}
        self._samples: deque[NodeSample | EndedSession] = deque()
        self.written_totals = WrittenTotals()
        self.lost = self.unsampled = 0

    def begin(self, period: float) -> None:
        """Starts sampling every `period` seconds at any speed, but not in pauses."""
        self._turn += 1
        self._period = period
        self._plan_next(self._turn)

    def end(self) -> None:
        """Stops sampling."""
        self._turn += 1
        self._sampled.clear()
        self._samples.clear()

    def drain(self) -> list[NodeSample | EndedSession]:
        """Returns the samples since the last call."""
        samples = list(self._samples)
        self._samples.clear()
        return samples

    def end_session(self, node: Node, state: str) -> None:
        """Records the end of a node's session; called with the state that follows."""
        if sampled := self._sampled.pop(node.id, None):
            self._append(EndedSession(sampled.session, state in _ABRUPT_END_STATES))

    def _plan_next(self, turn: int) -> None:
        self._context.event_queue.after_exactly(self._period, partial(self._sample_nodes, turn))

    def _sample_nodes(self, turn: int) -> None:
        if turn != self._turn:
            return
        self.unsampled = 0
        for pool in self._account.pools.values():
            for node in () if pool.has_agent else pool.nodes.values():
                if node.state in _SAMPLED_STATES and node.booted is not None:
                    self._sample(node, node.booted)
        self._plan_next(turn)

    def _sample(self, node: Node, booted: int) -> None:
        sampled = self._sampled.get(node.id)
        if sampled is None:
            if len(self._sampled) >= MAX_SAMPLED_NODES:
                self.unsampled += 1
                return
            sampled = self._sampled[node.id] = _SampledNode(_session(node, booted))
        now, start = self._context.node_now(node), node.start_task
        running_tasks = tuple(_running_task(run, now, self._context.event_queue) for run in node.running)
        self._append(
            NodeSample(sampled.session, sampled.samples, now, bool(start and start.ended is None), running_tasks)
        )
        sampled.samples += 1

    def _append(self, record: NodeSample | EndedSession) -> None:
        self._samples.append(record)
        if len(self._samples) > _MAX_UNREAD:
            self._samples.popleft()
            self.lost += 1

    @property
    def totals(self) -> Json:
        """Lost samples, unsampled nodes, and the writer's totals, as JSON."""
        return {"glimpsesLost": self.lost, "nodesBeyond": self.unsampled, **self.written_totals.totals}


def _session(node: Node, booted: int) -> AgentSession:
    pool = node.pool
    hardware = hardware_of(node.vm_size, node.vcpus)
    return AgentSession(pool.id, node.id, node.life, hardware, not node.dedicated, node.ip, node.allocated, booted)


def _running_task(run: Run, now: int, event_queue: EventQueue) -> RunningTask:
    task, line = run.task, str(run.task.spec["commandLine"])
    seconds = max(0.0, (now - run.started) / SECOND * event_queue.speed)
    sleep = _SLEEP.search(line) if exit_code(line) == _KILLED else None
    share = min(1.0, task.slots / run.node.pool.slots_per_node)
    return RunningTask(run.job.id, task.id, share, seconds, float(sleep[1]) if sleep else 0.0, run.started)
