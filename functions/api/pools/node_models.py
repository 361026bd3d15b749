"""The JSON of nodes and its conversion from service results."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from functions.api.pools.interruption_models import InterruptionsAnswer, interruptions_answer
from functions.api.pools.pool_models import ErrorTextAnswer
from functions.http.answers import Answer, stamp, utc
from shared.domain.nodes.node_causes import cause_of, last_seen
from shared.domain.nodes.node_records import NOT_SEEN
from shared.domain.nodes.nodes import Node, StartRun
from shared.domain.pools.pool_sizes import vcpus_in
from shared.domain.reports.reports import NodeReport


class StartTaskInfoAnswer(Answer):
    """The latest run of a node's start task."""

    state: str
    result: str | None
    exit_code: int | None
    start_time: datetime | None
    end_time: datetime | None
    retry_count: int
    failure_category: str | None
    failure_code: str | None
    failure_message: str | None


class RecentTaskAnswer(Answer):
    """A task that runs or ran on a node."""

    job: str
    task: str
    state: str


class StateAnswer(Answer):
    """A state that a node was in; `state` is null if no poll saw it.

    It began at `since` and ended at `until`, null if unknown; the `current` state has not ended.
    """

    state: str | None
    since: datetime | None
    until: datetime | None
    current: bool


class NodeLine(Answer):
    """The table columns of a node, as of `asOf`."""

    id: str
    pool: str
    account: str
    state: str
    state_transition_time: datetime | None
    seconds_in_state: float | None
    cause: str | None
    scheduling_state: str
    is_dedicated: bool
    vm_size: str
    cores: int | None
    node_agent_version: str | None
    last_boot_time: datetime | None
    allocation_time: datetime | None
    running_tasks: int
    running_slots: int
    total_tasks_run: int
    total_tasks_succeeded: int
    flapping: bool
    flaps: int
    as_of: datetime | None
    level: Literal["exact", "unverified", "catchingUp", "stale"]
    last_seen: datetime | None


class NodeAnswer(NodeLine):
    """A node as of `asOf`; `level` is that of its pool's verdict, or `unverified` while a poll is being stored.

    `cores` are its vCPUs, null where they are unknown. `nodeAgentVersion` is that of Batch's own agent, null before the
    node has booted. `secondsInState` counts until now; `cause` explains the state.
    `lastSeen` is when Batch last had contact with the node, null while it is being created or if unknown. `recentTasks`
    are latest first, as of `recentTasksAsOf`. `flaps` counts transitions into a bad state within an hour; with three or
    more the node is `flapping`. `history` holds the states that polls saw since `historySince`, latest first.
    `historyComplete` is false if time stamps reveal unseen states, earlier states were dropped, or none are stored.
    States that leave no trace are missing.
    """

    start_task_info: StartTaskInfoAnswer | None
    errors: list[ErrorTextAnswer]
    recent_tasks: list[RecentTaskAnswer]
    recent_tasks_as_of: datetime | None
    interruptions: InterruptionsAnswer
    history: list[StateAnswer]
    history_since: datetime | None
    history_complete: bool


def node_answer(report: NodeReport) -> NodeAnswer:
    node, verdict = report.node, report.pool.verdict
    record, age = node.record, report.time_in_state
    return NodeAnswer(
        id=node.id,
        pool=report.pool.pool.facts.id,
        account=report.pool.account.id,
        state=node.state,
        state_transition_time=stamp(node.transition),
        seconds_in_state=None if age is None else age.total_seconds(),
        cause=cause_of(node),
        scheduling_state=node.scheduling,
        is_dedicated=node.dedicated,
        vm_size=node.vm_size,
        cores=vcpus_in(report.pool.pool, node),
        node_agent_version=node.agent or None,
        last_boot_time=stamp(node.booted),
        allocation_time=stamp(node.allocated),
        running_tasks=node.tasks,
        running_slots=node.slots,
        total_tasks_run=node.tasks_run,
        total_tasks_succeeded=node.tasks_succeeded,
        start_task_info=_start_task_info(node.start) if node.start else None,
        errors=list(map(ErrorTextAnswer.of, node.errors)),
        recent_tasks=list(map(RecentTaskAnswer.of, node.recent)),
        recent_tasks_as_of=stamp(node.recent_at),
        flapping=report.is_flapping,
        flaps=report.flaps,
        interruptions=interruptions_answer(record.interruptions, record.since, report.now),
        history=list(states_of(node)),
        history_since=stamp(record.since),
        history_complete=record.is_whole,
        as_of=utc(verdict.as_of),
        last_seen=utc(verdict.as_of and last_seen(node, verdict.as_of)),
        level=verdict.level,
    )


def _start_task_info(run: StartRun) -> StartTaskInfoAnswer:
    return StartTaskInfoAnswer.of(
        run,
        result=run.result or None,
        start_time=stamp(run.start),
        end_time=stamp(run.end),
        retry_count=run.retries,
        failure_category=run.category or None,
        failure_code=run.code or None,
        failure_message=run.message or None,
    )


def states_of(node: Node) -> Iterator[StateAnswer]:
    """Yields the states of a node, latest first; each ends when the next one began.

    A node's clock may go back, so the start of a state is capped at the start of the state that followed it.
    """
    yield StateAnswer(state=node.state, since=stamp(node.transition), until=None, current=True)
    until = earliest = node.transition
    for past in node.record.past:
        state = None if past.state == NOT_SEEN else past.state
        since = min(past.since, earliest) if earliest else past.since
        yield StateAnswer(state=state, since=stamp(since), until=stamp(until), current=False)
        until = since
        earliest = since or earliest
