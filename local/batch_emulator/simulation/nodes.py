"""State transitions of nodes: created, started, its start task, idle and running, lost and recovered, leaving.

Spot nodes are preempted after seeded, exponentially distributed times. Their tasks become active again without a
counted requeue, since no user requested it (documented for requeueCount).
"""

from collections.abc import Callable
from functools import partial

from local.batch_emulator.entities import Json, Lease, Node, Pool, StartTask
from local.batch_emulator.simulation.tasks import TaskTransitions
from local.batch_emulator.state.command_lines import command_result
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.failures import exit_failure, package_error

_CREATING = (8.0, 20.0)
_STARTING = (8.0, 20.0)
_RECOVERING = (40.0, 120.0)
_LEAVING = (2.0, 5.0)
_RESTARTING = (10.0, 30.0)
_MIN_START_TASK_SECONDS = 1.0  # of a start task, which may be retried endlessly


class NodeTransitions:
    """Carries out the state transitions of nodes.

    `node_ready` is called when a node can accept tasks, `node_changed` when one has started or left, and
    `session_ended` when a node stops, with the state that follows.
    """

    def __init__(
        self,
        context: SimulationContext,
        tasks: TaskTransitions,
        *,
        node_ready: Callable[[Pool], None],
        node_changed: Callable[[Pool], None],
        session_ended: Callable[[Node, str], None],
    ) -> None:
        self._context = context
        self._tasks = tasks
        self._node_ready = node_ready
        self._node_changed = node_changed
        self._session_ended = session_ended

    def add(self, pool: Pool, size: str, *, dedicated: bool) -> None:
        rng = self._context.rng
        name = f"tvmps_{rng.getrandbits(256):064x}_{'d' if dedicated else 'p'}"
        position, now = len(pool.nodes), self._context.now
        node = Node(
            id=name,
            number=self._context.change_log.next_number(),
            pool=pool,
            dedicated=dedicated,
            bias=rng.uniform(-1, 1),
            allocated=now,
            changed=now,
            entered=now,
            free=pool.slots_per_node,
            ip=f"10.0.{position // 250}.{position % 250 + 4}",
            vm_size=size,
            agent_version=self._context.settings.nodeAgentVersion,
        )
        self._context.record_node_counts(pool)
        pool.nodes[name] = node
        self._context.start_ups.begin(node, wished=pool.allocation_changed)
        self._mark_changed(node)
        self._context.between(_CREATING, partial(self._start, node, node.life))

    def remove(self, node: Node, option: str) -> None:
        """Removes a node by the deallocation option: requeue, terminate or taskcompletion."""
        node.leaving = True
        self._mark_changed(node)
        self._stop_runs(node, option, counted=True)
        self.leave_when_free(node)

    def restart_or_deallocate(self, node: Node, state: str, option: str) -> None:
        """Moves a node to rebooting, reimaging or deallocating as soon as the option allows."""
        node.away = state
        node.image += state == "reimaging"
        self._mark_changed(node)
        self._stop_runs(node, option, counted=False)
        self.leave_when_free(node)

    def start_deallocated(self, node: Node) -> None:
        """Starts a deallocated node."""
        node.life += 1
        self._start(node, node.life)

    def disable(self, node: Node, option: str) -> None:
        node.scheduling = "disabled"
        self._mark_changed(node)
        self._stop_runs(node, option, counted=False)
        if node.state == "idle":
            self._context.change_node_state(node, "offline")

    def enable(self, node: Node) -> None:
        node.scheduling = "enabled"
        self._mark_changed(node)
        if node.state == "offline":
            self._context.change_node_state(node, "idle")
        node.pool.scheduling_index.update_node(node, usable=node.is_usable)
        self._node_ready(node.pool)

    def leave_when_free(self, node: Node) -> None:
        if node.runs:
            return
        if node.leaving and node.state != "leavingpool":
            self._end_life(node, "leavingpool")
            self._context.between(_LEAVING, partial(self.go, node))
        elif node.away and not node.leaving and node.state != node.away:
            self._end_life(node, node.away)
            self._context.between(_RESTARTING, partial(self._restart, node, node.life))

    def go(self, node: Node) -> None:
        """Deletes a leaving node."""
        pool = node.pool
        self._context.record_node_counts(pool)
        if pool.nodes.pop(node.id, None):
            self._context.usage.end_state(node, self._context.now)
            lease = Lease(
                self._context.change_log.next_number(), pool.id, node.vm_size, node.allocated, self._context.now
            )
            pool.account.leases.append(lease)
            self._context.mark_changed(lease, pool.account)
            self._context.change_log.mark_deleted(node, pool)
            self._node_changed(pool)

    def _stop_runs(self, node: Node, option: str, *, counted: bool) -> None:
        """Ends or requeues a node's runs; `taskcompletion` and `retaineddata` let them finish."""
        node.pool.scheduling_index.update_node(node, usable=False)
        for run in list(node.runs) if option in ("requeue", "terminate") else ():
            if option == "terminate":
                self._tasks.end(run.job, run.task)
            else:
                self._tasks.requeue(run, "requeued", counted=counted)

    def _end_life(self, node: Node, state: str) -> None:
        self._session_ended(node, state)
        node.life += 1
        node.errors.clear()
        self._context.change_node_state(node, state)
        if state != "rebooting":
            node.fresh = self._context.node_now(node)
            node.removed.clear()

    def _restart(self, node: Node, life: int) -> None:
        if node.life != life:
            return
        state, node.away = node.away, ""
        if state == "deallocating":
            self._context.change_node_state(node, "deallocated")
        else:
            self._start(node, life)

    def _start(self, node: Node, life: int) -> None:
        if node.life != life:
            return
        node.booted = self._context.node_now(node)
        self._context.start_ups.mark(node, "booted", self._context.now)
        self._mark_changed(node)
        self._context.report(node, partial(self._show, node, life, "starting"))
        self._node_changed(node.pool)
        self._context.between(_STARTING, partial(self._booted, node, life))

    def _booted(self, node: Node, life: int) -> None:
        if node.life != life:
            return
        if error := package_error(node.pool.spec):
            self._context.report(node, partial(self._show_broken, node, life, error))
            return
        spec = node.pool.spec.get("startTask")
        if not spec:
            self._context.report(node, partial(self._show_ready, node, life))
            return
        node.start_task = StartTask(self._context.node_now(node))
        self._context.start_ups.mark(node, "startTaskStarted", self._context.now)
        self._run_start_task(node, str(spec["commandLine"]))
        if spec.get("waitForSuccess", True):
            self._context.report(node, partial(self._show, node, life, "waitingforstarttask"))
        else:
            self._context.report(node, partial(self._show_ready, node, life))

    def _run_start_task(self, node: Node, command_line: str) -> None:
        self._mark_changed(node)
        result = command_result(command_line, self._context.rng)
        ended = partial(self._start_task_ended, node, node.life, result.exit_code)
        self._context.event_queue.after(max(result.seconds, _MIN_START_TASK_SECONDS), ended)

    def _start_task_ended(self, node: Node, life: int, exit_code: int) -> None:
        run = node.start_task
        if node.life != life or run is None:
            return
        spec = node.pool.spec.get("startTask") or {}
        run.result = "failure" if exit_code else "success"
        if exit_code and _may_retry(run, spec):
            run.retries, run.started = run.retries + 1, self._context.node_now(node)
            run.last_retry = run.started
            self._run_start_task(node, str(spec["commandLine"]))
            return
        run.state, run.ended, run.exit_code = "completed", self._context.node_now(node), exit_code
        run.failure = exit_failure(exit_code) if exit_code else None
        self._context.start_ups.mark(node, "startTaskEnded", self._context.now)
        self._mark_changed(node)
        if not spec.get("waitForSuccess", True):
            return
        show = (
            partial(self._show, node, life, "starttaskfailed") if exit_code else partial(self._show_ready, node, life)
        )
        self._context.report(node, show)

    def _show(self, node: Node, life: int, state: str, moment: int) -> None:
        if node.life == life:
            self._context.change_node_state(node, state, reported=moment)

    def _show_broken(self, node: Node, life: int, error: Json, moment: int) -> None:
        if node.life == life:
            node.errors = [error]
            self._context.change_node_state(node, "unusable", reported=moment)

    def _show_ready(self, node: Node, life: int, moment: int) -> None:
        if node.life != life:
            return
        self._context.change_node_state(node, node.idle_state, reported=moment)
        self._context.start_ups.mark(node, "ready", self._context.now)
        node.pool.scheduling_index.update_node(node, usable=node.is_usable)
        self._node_ready(node.pool)
        settings = self._context.settings
        mean = settings.nodeLossSeconds if node.dedicated else settings.preemptionSeconds
        if mean:
            self._context.event_queue.after(self._context.rng.expovariate(1 / mean), partial(self._lose, node, life))

    def _lose(self, node: Node, life: int) -> None:
        """Preempts a spot node, or breaks a dedicated one; one that leaves with its last run doesn't recover."""
        if node.life != life:
            return
        node.away = ""
        self._end_life(node, "unusable" if node.dedicated else "preempted")
        lost_life = node.life
        node.pool.scheduling_index.update_node(node, usable=False)
        for run in list(node.runs):
            self._tasks.requeue(run, "lost" if node.dedicated else "preempted", counted=False)
        self._context.between(_RECOVERING, partial(self._start, node, lost_life))

    def _mark_changed(self, node: Node) -> None:
        self._context.mark_changed(node, node.pool)


def _may_retry(run: StartTask, spec: Json) -> bool:
    """Returns whether a retry is left; a maxTaskRetryCount of -1 means no limit."""
    max_retries = int(spec.get("maxTaskRetryCount") or 0)
    return max_retries < 0 or run.retries < max_retries
