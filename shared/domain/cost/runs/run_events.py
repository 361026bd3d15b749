"""What Batch's events say of runs of tasks: starts, ends and requeues, by job and task."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, Literal, NamedTuple, get_args

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import BatchEvent, field_of, parse_stamp
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Node
from shared.domain.usage.last_nodes import Deletion

type Step = Literal["end", "requeue", "start"]
_STEPS: Mapping[str, Step] = {
    "TaskStartEvent": "start",
    "TaskCompleteEvent": "end",
    "TaskFailEvent": "end",
    "TaskRequeueEvent": "requeue",
}
_POOL_DELETED = "PoolDeleteCompleteEvent"
_NAMES: tuple[Step, ...] = get_args(Step.__value__)
_PACKED = Struct("<qqqIIIIBb")  # at, start, end, retries, slots, instances; of node and step the places; result
_MOST = (1 << 32) - 1


class RunEvent(NamedTuple):
    """An event of a run; times are milliseconds since 1970, 0 where it doesn't say them. `at` is when it was logged.

    A multi-instance task runs on as many nodes as it has `instances`, and `node` is that of its primary.
    """

    at: int
    step: Step
    start: int
    end: int
    result: int
    retries: int
    slots: int
    node: Node
    instances: int = 1


type TaskEvents = Mapping[str, list[RunEvent]]
"""By task key."""


@dataclass(slots=True)
class RunEvents:
    """The events of runs of an account's tasks, by job; `names` are the ids of their jobs, by key.

    They are packed, as there may be hundreds of thousands, until those of a job are asked for. `deletions` are those of
    pools, by pool key.
    """

    names: dict[str, str] = field(default_factory=dict)
    deletions: defaultdict[str, list[Deletion]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0
    _packed: defaultdict[str, defaultdict[str, bytes]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(bytes))
    )
    _latest: dict[str, int] = field(default_factory=dict)
    _nodes: dict[Node, int] = field(default_factory=dict)

    def take(self, events: Iterable[BatchEvent]) -> None:
        """Adds those of the events that are about runs of tasks, or the end of a pool."""
        for event in events:
            if event.kind == _POOL_DELETED and event.pool:
                self.deletions[key_of(event.pool)].append(_deletion(event))
            step = _STEPS.get(event.kind)
            if step and event.job and event.task:
                job, one = key_of(event.job), _run_event(event, step)
                self.names[job] = event.job
                self._latest[job] = max(self._latest.get(job, one.at), one.at)
                self._packed[job][key_of(event.task)] += self._pack(one)
                self.count += 1

    def has_since(self, job_key: str, moment: int) -> bool:
        """Returns whether a job has an event from a time on, in milliseconds since 1970."""
        latest = self._latest.get(job_key)
        return latest is not None and latest >= moment

    def of_job(self, job_key: str) -> TaskEvents:
        """Returns the events of a job's tasks."""
        nodes = list(self._nodes)
        return {task: [_unpacked(one, nodes) for one in _PACKED.iter_unpack(packed)]
                for task, packed in self._packed.get(job_key, {}).items()}  # fmt: skip

    def _pack(self, one: RunEvent) -> bytes:
        node = self._nodes.setdefault(one.node, len(self._nodes))
        numbers = one.retries, one.slots, one.instances
        return _PACKED.pack(one.at, one.start, one.end, *numbers, node, _NAMES.index(one.step), one.result)


def _unpacked(packed: tuple[int, ...], nodes: Sequence[Node]) -> RunEvent:
    at, start, end, retries, slots, instances, node, step, result = packed
    return RunEvent(at, _NAMES[step], start, end, result, retries, slots, nodes[node], instances)


def _run_event(event: BatchEvent, step: Step) -> RunEvent:
    run = field_of(event.properties, "executionInfo")
    start, end = ("scheduledTime", "") if step == "start" else ("startTime", "endTime")
    said = str(field_of(run, "result") or "").lower()
    return RunEvent(
        to_milliseconds(event.at),
        step,
        _time(field_of(run, start)),
        _time(field_of(run, end)),
        FAILURE if said == "failure" else SUCCESS,
        _number(field_of(run, "retryCount"), 0),
        _number(field_of(event.properties, "requiredSlots"), 1),
        (event.pool or "", event.node or ""),
        _number(field_of(event.properties, "multiInstanceSettings", "numberOfInstances"), 1),
    )


def _deletion(event: BatchEvent) -> Deletion:
    began, ended = (_time(field_of(event.properties, name)) for name in ("startTime", "endTime"))
    return Deletion(began, ended or to_milliseconds(event.at))


def instances_of(events: Iterable[RunEvent]) -> int:
    """Returns on how many nodes each run of a task takes place, 1 where its events don't say it."""
    return max((event.instances for event in events), default=1)


def _time(found: object) -> int:
    moment = parse_stamp(found)
    return to_milliseconds(moment) if moment else 0


def _number(found: Any, default: int) -> int:
    is_number = isinstance(found, int) and not isinstance(found, bool) and default <= found <= _MOST
    return found if is_number else default
