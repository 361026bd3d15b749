"""Jobs with waiting tasks, and nodes by free slots: finds the next task and its node without scanning the others."""

from collections import deque
from collections.abc import Mapping

from local.batch_emulator.entities import Job, Node, Task


class ReadyTasks:
    """A job's waiting tasks, first in first out among those that fit. Outdated entries are dropped when found."""

    def __init__(self) -> None:
        self._by_slots: dict[int, deque[tuple[int, Task]]] = {}

    def push(self, task: Task, *, first: bool = False) -> None:
        task.ticket += 1
        queue = self._by_slots.setdefault(task.slots, deque())
        (queue.appendleft if first else queue.append)((task.ticket, task))

    def pop(self, room: int) -> Task | None:
        """Returns the oldest task that needs at most `room` slots."""
        fitting = [head for slots in list(self._by_slots) if slots <= room and (head := self._head(slots))]
        if not fitting:
            return None
        oldest = min(fitting, key=lambda task: task.number)
        self._by_slots[oldest.slots].popleft()
        oldest.ticket += 1
        return oldest

    @property
    def is_empty(self) -> bool:
        return not any(self._head(slots) for slots in list(self._by_slots))

    def _head(self, slots: int) -> Task | None:
        queue = self._by_slots[slots]
        while queue:
            ticket, task = queue[0]
            if task.ticket == ticket:
                return task
            queue.popleft()
        del self._by_slots[slots]
        return None


class Backlog:
    """A pool's jobs with waiting tasks, and its nodes by free slots."""

    def __init__(self) -> None:
        self._jobs: dict[Job, None] = {}
        self._nodes: dict[int, dict[Node, None]] = {}
        self._placed: dict[Node, int] = {}
        self._held: dict[Job, None] = {}

    def enlist(self, job: Job) -> None:
        self._jobs[job] = None

    def strike(self, job: Job) -> None:
        self._jobs.pop(job, None)

    def place(self, node: Node, *, usable: bool) -> None:
        """Updates a node; called whenever its free slots or its usability change."""
        if (before := self._placed.pop(node, None)) is not None:
            self._nodes[before].pop(node)
            if not self._nodes[before]:
                del self._nodes[before]
        if usable and node.free > 0:
            self._nodes.setdefault(node.free, {})[node] = None
            self._placed[node] = node.free

    @property
    def room(self) -> int:
        """The maximum of free slots on one node."""
        return max(self._nodes, default=0)

    def hold(self, job: Job) -> None:
        """Removes a job until `look_again`, because no node with room is suitable."""
        self.strike(job)
        self._held[job] = None

    def look_again(self) -> None:
        self._jobs |= self._held
        self._held.clear()

    def node_for(self, slots: int, *, pack: bool, unfit: Mapping[Node, int]) -> Node | None:
        """Returns the emptiest node with room, or with `pack` the fullest, unless unfit with its present image."""
        for size in sorted((size for size in self._nodes if size >= slots), reverse=not pack):
            for node in self._nodes[size]:
                if unfit.get(node) != node.image:
                    return node
        return None

    def pop(self) -> tuple[Job, Task] | None:
        """Returns the next task that fits, by priority and age of jobs."""
        for job in sorted(self._jobs, key=lambda job: (-int(job.spec.get("priority") or 0), job.number)):
            if job.state != "active" or job.ready.is_empty:
                self.strike(job)
            elif job.has_room and (task := job.ready.pop(self.room)):
                return job, task
        return None
