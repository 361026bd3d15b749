"""One sentence for an event of each kind, derived from the event alone, without guesses about missing fields.

Source of the kinds and shapes: the pages "Azure Batch analytics" of Microsoft's documentation, 2017 to 2026.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any

from shared.domain.events.batch_events import BatchEvent, field_of, parse_stamp, text_of
from shared.domain.events.condition_events import CONDITION_KINDS, condition_sentence
from shared.domain.events.node_events import NODE_KINDS, is_of_node, node_sentence
from shared.domain.events.pool_events import POOL_KINDS, SETTINGS_CHANGE, settings_sentence

_TARGETS = (("Dedicated", "dedicated"), ("LowPriority", "Spot"))
_NODES = "Nodes"  # suffix of names, except for those of 2017
_MAX_DETAILS = 5


def sentence_of(event: BatchEvent, *, is_internal_retry: bool = False) -> str:
    """Returns the sentence for an event of any kind; for a start, it also notes an internal retry."""
    own = {SETTINGS_CHANGE: settings_sentence, **dict.fromkeys(CONDITION_KINDS, condition_sentence)}
    of_others = own.get(event.kind, _unknown)
    sentence = _SENTENCES.get(event.kind, node_sentence if is_of_node(event.kind) else of_others)(event)
    return f"{sentence.removesuffix('.')} (an internal retry by Batch)." if is_internal_retry else sentence


def _pool_created(event: BatchEvent) -> str:
    size = text_of(event.properties, "vmSize")
    is_scaled = field_of(event.properties, "enableAutoScale") is True
    counts = [(_nodes(event, f"target{name}Nodes"), word) for name, word in _TARGETS]
    targets = " and ".join(f"{count} {word}" for count, word in counts if count)
    nodes = f"{targets} nodes" if targets and not is_scaled else size and "nodes"
    made = f" with {nodes}{f' of size {size}' if size else ''}" if nodes else ""
    return f"{_pool(event)} was created{made}{', scaled by a formula' if is_scaled else ''}."


def _resize_began(event: BatchEvent) -> str:
    changes = [
        f"{'' if current is None else f'from {current} '}to {target} {word} nodes"
        for name, word in _TARGETS
        if (target := _nodes(event, f"target{name}Nodes")) is not None
        and (current := _nodes(event, f"current{name}Nodes")) != target
    ]
    return f"A resize of {_pool(event, small=True)} began{': ' + ' and '.join(changes) if changes else ''}."


def _resized(event: BatchEvent) -> str:
    code, message = text_of(event.properties, "resultCode"), text_of(event.properties, "resultMessage")
    reached = [
        f"{current} of {target} {word}"
        for name, word in _TARGETS
        if (target := _nodes(event, f"target{name}Nodes"))
        and (current := _nodes(event, f"current{name}Nodes")) is not None
    ]
    nodes = f", with {' and '.join(reached)} nodes" if reached else ""
    if code is None or code.lower() == "success":
        return f"The resize of {_pool(event, small=True)} ended{_after(event.properties)}{nodes}."
    why = f"{code}: {message}" if message else code
    return f"The resize of {_pool(event, small=True)} failed{_after(event.properties)}{nodes} ({_stopped(why)})."


def _scaled(event: BatchEvent) -> str:
    why = _reason(field_of(event.properties, "error"))
    if why or field_of(event.properties, "error", "values"):
        return f"The autoscale formula of {_pool(event, small=True)} failed{': ' if why else ''}{why}."
    results = _stopped(text_of(event.properties, "results") or "")
    return f"The autoscale formula of {_pool(event, small=True)} was evaluated{': ' if results else ''}{results}."


def _completed(event: BatchEvent) -> str:
    run = _run(event)
    how = "ended with a failure" if _is_failure(run) else "completed"
    return f"{_task(event)} {how}{_node(event)}{_exit(run)}{_after(run)}."


def _failed(event: BatchEvent) -> str:
    run = _run(event)
    return f"{_task(event)} failed{_node(event)}{_exit(run)}{_again(event)}{_why(run)}."


def _requeued(event: BatchEvent) -> str:
    run = _run(event)
    return f"{_task(event)} was queued again{_node(event, 'from')}{_exit(run)}{_why(run)}."


def _special(event: BatchEvent) -> str:
    run = _run(event)
    kind = text_of(event.properties, "taskType") or "special task"
    how = "failed" if _is_failure(run) else "completed"
    job = f" of job '{event.job}'" if event.job else ""
    name = f" '{event.task}'" if event.task else ""
    return f"The {kind} task{name}{job} {how}{_node(event)}{_exit(run)}{_after(run)}{_why(run)}."


def _unknown(event: BatchEvent) -> str:
    named = (("task", event.task), ("job", event.job), ("pool", event.pool), ("node", event.node))
    about = ", ".join(f"{word} '{name}'" for word, name in named if name)
    return f"The service logged {event.kind}{f' of {about}' if about else ''}."


def _pool(event: BatchEvent, *, small: bool = False) -> str:
    word = "pool" if small else "Pool"
    return f"{word} '{event.pool}'" if event.pool else f"{'a' if small else 'A'} pool"


def _task(event: BatchEvent) -> str:
    task = f"Task '{event.task}'" if event.task else "A task"
    return f"{task} of job '{event.job}'" if event.job else task


def _node(event: BatchEvent, word: str = "on") -> str:
    return f" {word} node '{event.node}'" if event.node else ""


def _run(event: BatchEvent) -> Mapping[str, Any]:
    return field_of(event.properties, "executionInfo") or {}


def _again(event: BatchEvent) -> str:
    retries = _whole(field_of(_run(event), "retryCount"))
    return f" (retry {retries})" if retries and retries > 0 else ""


def _exit(run: Mapping[str, Any]) -> str:
    code = _whole(field_of(run, "exitCode"))
    return "" if code is None else f" with exit code {code}"


def _is_failure(run: Mapping[str, Any]) -> bool:
    return str(field_of(run, "result") or "").lower() == "failure"


def _why(found: Mapping[str, Any]) -> str:
    why = _reason(field_of(found, "schedulingError"))
    return f": {why}" if why else ""


def _reason(error: object) -> str:
    """Returns an error's code, message and details, as far as they have content."""
    why = ": ".join(_stopped(part) for name in ("code", "message") if (part := text_of(error, name)))
    details = "; ".join(dict.fromkeys(_details(error)))
    return f"{why} ({details})" if why and details else why or details


def _details(error: object) -> Iterator[str]:
    """Yields pairs of name and value, which autoscale errors call `values` and scheduling errors `details`."""
    lists = [found for name in ("values", "details") if isinstance(found := field_of(error, name), list)]
    for pair in list(chain.from_iterable(lists))[:_MAX_DETAILS]:
        name, value = text_of(pair, "name"), text_of(pair, "value")
        if value:
            yield _stopped(value) if not name or name.lower() == "message" else f"{name}: {_stopped(value)}"


def _after(found: Mapping[str, Any]) -> str:
    start, end = parse_stamp(field_of(found, "startTime")), parse_stamp(field_of(found, "endTime"))
    return f" after {_duration(end - start)}" if start and end and end >= start else ""


def _duration(took: timedelta) -> str:
    seconds = took.total_seconds()
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.3g} s"
    hours, left = divmod(round(seconds), 3600)
    return f"{hours} h {left // 60} min" if hours else f"{left // 60} min {left % 60} s"


def _nodes(event: BatchEvent, name: str) -> int | None:
    count = _whole(field_of(event.properties, name))
    return _whole(field_of(event.properties, name.removesuffix(_NODES))) if count is None else count


def _whole(value: object) -> int | None:
    """Returns an integer; None for a boolean."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _stopped(text: str) -> str:
    return text.strip().rstrip(".")


_SENTENCES: dict[str, Callable[[BatchEvent], str]] = {
    "PoolCreateEvent": _pool_created,
    "PoolDeleteStartEvent": lambda event: f"The deletion of {_pool(event, small=True)} began.",
    "PoolDeleteCompleteEvent": lambda event: f"{_pool(event)} was deleted{_after(event.properties)}.",
    "PoolResizeStartEvent": _resize_began,
    "PoolResizeCompleteEvent": _resized,
    "PoolAutoScaleEvent": _scaled,
    "TaskStartEvent": lambda event: f"{_task(event)} started{_node(event)}{_again(event)}.",
    "TaskCompleteEvent": _completed,
    "TaskFailEvent": _failed,
    "TaskRequeueEvent": _requeued,
    "TaskScheduleFailEvent": lambda event: (
        f"{_task(event)} couldn't be scheduled{_node(event)}{_why(event.properties)}."
    ),
    "SpecialTaskEvent": _special,
}
KINDS = tuple(_SENTENCES)
"""All documented kinds of Batch's events."""
ALL_KINDS = (*KINDS, *NODE_KINDS, *POOL_KINDS, *CONDITION_KINDS)
"""Those of Batch, of the node agent, and of Batchscope itself."""
