"""The cause of a node's state as a sentence, from the service's codes and states.

Sources: "Azure Batch pool and node errors" (an unusable node without errors is one that Batch can't reach and tries to
recover; failed packages and containers and full disks are reported as errors) and the reference of Compute Node - Get.
"""

from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.nodes.nodes import FAILURE, Node, NodeError, StartRun

DISK_FULL = "diskfull"
_PLAIN = {
    "creating": "The service is allocating the node.",
    "starting": "The service's agent on the node is starting.",
    "rebooting": "The node is rebooting.",
    "reimaging": "The node is being reimaged.",
    "upgradingos": "The node's operating system is being upgraded.",
    "unknown": "The service has lost contact with the node.",
    "leavingpool": "The node is leaving the pool: it was removed, or the pool shrinks.",
    "preempted": "The spot node was preempted: Azure took it back. Its tasks go to other nodes.",
    "deallocating": "The node is being deallocated.",
    "deallocated": "The node is deallocated and runs nothing until it is started.",
}
_NEVER_SEEN = "creating"
_OUT_OF_REACH = ("unknown", "preempted", "deallocated")
_UNDER_WAY = ("starting", "rebooting", "reimaging", "upgradingos", "deallocating")  # when the node's agent may not run
_UNREACHABLE = "The service can't use the node and gives no error, which means that it can't reach it; it tries to."


def cause_of(node: Node) -> str | None:
    """Returns the cause of a node's state, only as the service reports it; None for a healthy node."""
    if full := next((error for error in node.errors if error.code.lower() == DISK_FULL), None):
        return f"The node's disk is full ({_error_text(full)})."
    if node.state == "unusable":
        return _UNREACHABLE if _is_unreachable(node) else f"The node is unusable: {_error_texts(node.errors)}."
    if node.state == "starttaskfailed":
        return _start_failed(node.start)
    if node.state == "waitingforstarttask":
        return _waiting(node.start)
    if node.state in _PLAIN:
        return _PLAIN[node.state]
    return _of_able_node(node)


def last_seen(node: Node, as_of: datetime) -> datetime | None:
    """Returns when the service last had contact with a node that was listed `as_of` then.

    That is until it lost the node, gave it up, or began an operation that stops the node's agent. None for a node that
    is being created, which it never contacted, and where the service doesn't state the time.
    """
    if node.state == _NEVER_SEEN:
        return None
    if node.state not in (*_OUT_OF_REACH, *_UNDER_WAY) and not _is_unreachable(node):
        return as_of
    return min(from_milliseconds(node.transition), as_of) if node.transition else None


def _is_unreachable(node: Node) -> bool:
    return node.state == "unusable" and not node.errors


def _of_able_node(node: Node) -> str | None:
    """Returns the cause for a node whose state allows it to run tasks."""
    if node.errors:
        return f"The node reports errors: {_error_texts(node.errors)}."
    if node.scheduling != "enabled" or node.state == "offline":
        return "Scheduling is switched off on the node: it gets no tasks."
    if node.start and node.start.result == FAILURE:
        return f"{_start_failed(node.start)} The pool doesn't wait for it to succeed."
    return None


def _start_failed(run: StartRun | None) -> str:
    if run is None:
        return "The start task failed."
    return _failed(run, f" after {_retries(run)}" if run.retries else "")


def _failed(run: StartRun, after: str = "") -> str:
    code = f" with exit code {run.exit_code}" if run.exit_code is not None else ""
    told = _error_text(NodeError(run.code, run.message))
    return f"The start task failed{code}{after}{f': {told}' if told else ''}."


def _retries(run: StartRun) -> str:
    return f"{run.retries:,} {'retry' if run.retries == 1 else 'retries'}"


def _waiting(run: StartRun | None) -> str:
    """Returns a sentence on the start task, without times if it is retried, so that equal causes read the same."""
    if run and run.has_failed:
        return f"{_failed(run)} It is being tried again{f' ({_retries(run)} so far)' if run.retries else ''}."
    if run is None or not run.start:
        return "The node waits for its start task."
    return f"The start task has been running since {from_milliseconds(run.start):%Y-%m-%d %H:%M:%S} UTC."


def _error_texts(errors: tuple[NodeError, ...]) -> str:
    return "; ".join(map(_error_text, errors))


def _error_text(error: NodeError) -> str:
    """Returns code and message without the final full stop, which the surrounding sentence adds."""
    return ": ".join(part for part in (error.code, error.message.strip().rstrip(".")) if part)
