"""Indexes jobs with waiting tasks and nodes by free slots, to find the next task and its node without a scan."""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

from local.batch_emulator.entities import Job, Node, Run, Task

type _Need = tuple[int, int]


class ReadyTasks:
    """A job's waiting tasks, first in first out among those that fit. Outdated entries are dropped when found.

    They are by what they need: slots, and the number of idle nodes for multi-instance tasks, 0 for others.

    `last_turn` is the number of the assignment in its pool that last took one of them, 0 before the first.
    """

    def __init__(self) -> None:
        self._by_need: dict[_Need, deque[tuple[int, Task]]] = {}
        self.last_turn = 0

    def push(self, task: Task, *, first: bool = False) -> None:
        task.ticket += 1
        queue = self._by_need.setdefault(_need(task), deque())
        (queue.appendleft if first else queue.append)((task.ticket, task))

    def pop(self, free_slots: int, idle_nodes: int) -> Task | None:
        """Returns the oldest task that needs at most so many slots, or idle nodes if it has several instances."""
        fitting = [
            head
            for need in list(self._by_need)
            if need[0] <= free_slots and need[1] <= idle_nodes and (head := self._first(need))
        ]
        if not fitting:
            return None
        oldest = min(fitting, key=lambda task: task.number)
        self._by_need[_need(oldest)].popleft()
        oldest.ticket += 1
        return oldest

    @property
    def is_empty(self) -> bool:
        return not any(self._first(need) for need in list(self._by_need))

    def _first(self, need: _Need) -> Task | None:
        queue = self._by_need[need]
        while queue:
            ticket, task = queue[0]
            if task.ticket == ticket:
                return task
            queue.popleft()
        del self._by_need[need]
        return None


class SchedulingIndex:
    """A pool's jobs with waiting tasks, and its nodes by free slots."""

    def __init__(self) -> None:
        self._jobs: dict[Job, None] = {}
        self._nodes: dict[int, dict[Node, None]] = {}
        self._slots_by_node: dict[Node, int] = {}
        self._suspended: dict[Job, None] = {}
        self._preemptible: dict[Job, None] = {}
        self._turns = 0

    def add_job(self, job: Job) -> None:
        self._jobs[job] = None
        if job.allows_preemption:
            self._preemptible[job] = None

    def remove_job(self, job: Job) -> None:
        self._jobs.pop(job, None)

    def update_node(self, node: Node, *, usable: bool) -> None:
        """Updates a node; called whenever its free slots or its usability change."""
        if (before := self._slots_by_node.pop(node, None)) is not None:
            self._nodes[before].pop(node)
            if not self._nodes[before]:
                del self._nodes[before]
        if usable and node.free > 0:
            self._nodes.setdefault(node.free, {})[node] = None
            self._slots_by_node[node] = node.free

    @property
    def max_free_slots(self) -> int:
        """The maximum of free slots on one node."""
        return max(self._nodes, default=0)

    def count_nodes(self, free_slots: int) -> int:
        """Returns how many usable nodes have exactly so many free slots."""
        return len(self._nodes.get(free_slots, ()))

    def suspend_job(self, job: Job) -> None:
        """Removes a job until `resume_jobs`, because none of the nodes with free slots is suitable."""
        self.remove_job(job)
        self._suspended[job] = None

    def resume_jobs(self) -> None:
        self._jobs |= self._suspended
        self._suspended.clear()

    def find_node(self, slots: int, *, pack: bool, failed_preparations: Mapping[Node, int]) -> Node | None:
        """Returns the node with the most free slots, or with `pack` the fewest that suffice.

        It skips nodes on which the job's preparation failed with the present image.
        """
        for size in sorted((size for size in self._nodes if size >= slots), reverse=not pack):
            for node in self._nodes[size]:
                if failed_preparations.get(node) != node.image:
                    return node
        return None

    def find_nodes(self, count: int, failed_preparations: Mapping[Node, int]) -> Sequence[Node]:
        """Returns so many nodes with one free slot, none for too few; it skips those where a preparation failed."""
        fitting = (node for node in self._nodes.get(1, ()) if failed_preparations.get(node) != node.image)
        found = list(islice(fitting, count))
        return found if len(found) == count else ()

    def pop_task(self, free_slots: int, idle_nodes: int, *, oldest_first: bool) -> tuple[Job, Task] | None:
        """Returns the next task that fits: of the highest priority, then by age or in turns.

        A task needs at most so many slots, a multi-instance task also at most so many idle nodes.
        """
        for job in sorted(
            self._jobs, key=lambda job: (-job.priority, 0 if oldest_first else job.ready_tasks.last_turn, job.number)
        ):
            if job.state != "active" or job.ready_tasks.is_empty:
                self.remove_job(job)
            elif job.may_run_more and (task := job.ready_tasks.pop(free_slots, idle_nodes)):
                return job, task
        return None

    def note_turn(self, job: Job) -> None:
        """Notes that one of a job's tasks was assigned, so that others of the same priority come before its next."""
        self._turns += 1
        job.ready_tasks.last_turn = self._turns

    def preemptible_runs(self) -> dict[Node, list[Run]]:
        """Returns the runs of jobs that allow preemption, by node, those to requeue first at the front.

        They are in the order of priority, and of equal priority the latest first.
        """
        found: dict[Node, list[Run]] = {}
        for job in list(self._preemptible):
            if not job.allows_preemption or job.state in ("completed", "deleting"):
                del self._preemptible[job]
                continue
            for run in job.runs:
                found.setdefault(run.node, []).append(run)
        for runs in found.values():
            runs.sort(key=lambda run: (run.job.priority, -run.number))
        return found


def _need(task: Task) -> _Need:
    return task.slots, task.instances
