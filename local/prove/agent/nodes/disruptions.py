"""Disruptions of nodes: agents are killed and paused, machines restart, storage is down, signatures are renewed."""

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from local.prove.agent.judging.lives import ProcessLife
from local.prove.agent.nodes.action_queue import Action, ActionQueue
from local.prove.agent.nodes.node import WITH_DISKS, Kind, Node
from local.prove.agent.nodes.node_starter import NodeStarter
from local.prove.agent.nodes.processes import SUPERVISOR, processes_of, send

_WARM_UP, _LAST = 8.0, 4.0  # seconds at the begin and the end without a kill
_DOWN = (0.0, 3.0)  # seconds until a killed agent starts again
_PAUSED = (2.0, 9.0)
_KILLED_WHILE_PAUSED = 0.3
_OUTAGE, _SMALL_OUTAGE = (6.0, 15.0), 45.0
_VALID, _RENEWED = 35.0, 60.0  # seconds that the expiring signature is valid, and until the next
_TWO_DEATHS = 32.0  # seconds within which a supervisor takes two deaths for a defect, and waits for minutes
_SUPERVISOR_SHARE = 0.5  # of the kills of supervised agents
_RETRY = 0.5
_REFRESH = 1.0


class Disruptions:
    """Disrupts nodes for a number of seconds, by the actions of `queue`; `down` stops a node's storage.

    `done` counts the disruptions by kind. Nodes with disks of their own are left to `DiskDisruptions`.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        starter: NodeStarter,
        down: Callable[[str, float], None],
        *,
        seed: int,
        seconds: float,
        kills: int,
    ) -> None:
        self.queue = ActionQueue()
        self.done: Counter[str] = Counter()
        self._nodes = tuple(node for node in nodes if node.kind not in WITH_DISKS)
        self._starter, self._down = starter, down
        self._chance = random.Random(f"{seed} disruptions")
        self._deaths: dict[str, float] = {}
        self._paused: dict[str, Action] = {}
        self._plan(seconds, kills)

    def finish(self) -> None:
        """Lets paused processes go on."""
        for resume in list(self._paused.values()):
            resume()

    def _plan(self, seconds: float, kills: int) -> None:
        last = max(seconds - _LAST, _WARM_UP)
        for action, times in ((self._kill, kills), (self._pause, kills // 3), (self._reboot, max(kills // 6, 1))):
            for _ in range(times):
                self.queue.at(self._chance.uniform(_WARM_UP, last), action)
        for node in self._nodes:
            if node.kind is Kind.SMALL:
                for begin in range(15, int(seconds), 110):
                    self.queue.at(begin, partial(self._outage, node, _SMALL_OUTAGE))
            elif node.kind is not Kind.EXPIRING:
                at = self._chance.uniform(_WARM_UP, last)
                self.queue.at(at, partial(self._outage, node, self._chance.uniform(*_OUTAGE)))
            else:
                for begin in range(int(_RENEWED), int(last), int(_RENEWED)):
                    self.queue.at(begin, partial(self._renew, node))
            if node.kind is Kind.SUPERVISED:
                self.queue.at(_REFRESH, partial(self._refresh, node))

    def start(self, node: Node, commands: tuple[str, ...] | None = None) -> None:
        """Starts the agents of a node."""
        valid = _VALID if node.kind is Kind.EXPIRING else 3600.0
        self._starter.start(node, commands or node.commands, seconds=valid)

    def _kill(self) -> None:
        """Kills any process of any node."""
        victim = self._victim()
        if victim is None:
            self.queue.later(_RETRY, self._kill)
            return
        self._kill_one(*victim)

    def _kill_one(self, node: Node, life: ProcessLife) -> None:
        """Kills a process; a node's supervisor in place of a child whose like died a moment ago."""
        wait = self._chance.uniform(*_DOWN)
        self.done["kills"] += 1
        if node.kind is not Kind.SUPERVISED:
            self._starter.kill(node, life.pid)
            self.queue.later(wait, lambda: self.start(node, (life.command,)))
            return
        now = time.monotonic()
        supervisor = [one.pid for one in processes_of(node.folder) if one.command == SUPERVISOR]
        is_soon = now - self._deaths.get(node.name, -_TWO_DEATHS) < _TWO_DEATHS
        if supervisor and (is_soon or self._chance.random() < _SUPERVISOR_SHARE):
            self.done["supervisors killed"] += 1
            self._starter.kill(node, supervisor[-1])
            self.queue.later(wait, lambda: self.start(node))
        else:
            self._deaths[node.name] = now
            self._starter.kill(node, life.pid)

    def _pause(self) -> None:
        """Pauses a process for some seconds; some are killed meanwhile."""
        victim = self._victim(is_running=True)
        if victim is None:
            self.queue.later(_RETRY, self._pause)
            return
        node, life = victim
        begin, seconds = time.time_ns(), self._chance.uniform(*_PAUSED)
        is_killed = self._chance.random() < _KILLED_WHILE_PAUSED and node.kind is not Kind.SUPERVISED
        send(life.pid, signal.SIGSTOP)
        self.done["pauses"] += 1

        def resume() -> None:
            if self._paused.pop(life.key, None) is None:
                return
            life.paused.append((begin, time.time_ns()))
            if is_killed and not life.ended:
                self.done["killed while paused"] += 1
                self._kill_one(node, life)
            else:
                send(life.pid, signal.SIGCONT)

        self._paused[life.key] = resume
        self.queue.later(seconds, resume)

    def _reboot(self) -> None:
        """Kills all processes of a node at once; the next ones find another boot id."""
        free = [node for node in self._nodes if node.alive and node.kind is not Kind.SHARED]
        if not free:
            self.queue.later(_RETRY, self._reboot)
            return
        node = self._chance.choice(free)
        self.done["reboots"] += 1
        gone = {life.command for life in node.alive} if node.kind is not Kind.SUPERVISED else {SUPERVISOR}
        self.done["processes killed by reboots"] += self._starter.kill_all(node)
        node.boot += 1
        self._deaths.pop(node.name, None)
        commands = tuple(command for command in node.commands if command in gone)
        self.queue.later(self._chance.uniform(*_DOWN), lambda: self.start(node, commands))

    def _renew(self, node: Node) -> None:
        """Ends the agent whose signature expired and starts one with a new signature, as a new start task does."""
        if not node.alive:
            self.queue.later(_RETRY, lambda: self._renew(node))
            return
        self.done["signatures renewed"] += 1
        self._starter.ask(node)
        self.start(node)

    def _outage(self, node: Node, seconds: float) -> None:
        self.done["outages"] += 1
        self._down(node.name, seconds)

    def _refresh(self, node: Node) -> None:
        self._starter.refresh(node)
        self.queue.later(_REFRESH, lambda: self._refresh(node))

    def _victim(self, *, is_running: bool = False) -> tuple[Node, ProcessLife] | None:
        """Returns a living process, one that isn't paused where it must be running."""
        found = [
            [(node, life) for life in node.alive if not is_running or life.key not in self._paused]
            for node in self._nodes
        ]
        some = list(filter(None, found))
        return self._chance.choice(self._chance.choice(some)) if some else None
