"""Notes on nodes on which tasks of the job fail: behind the cause, one for each node."""

from dataclasses import replace
from typing import Any

from shared.domain.core.stamps import to_milliseconds
from shared.domain.explain.explanation import explain
from shared.domain.findings.finding import Scope
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import BUSY, JOB, NOW, evidence

_NODES = tuple(FailingNode(("pool", name), 12, 10, 0.5, 3, 1, 1e-6) for name in ("tvm-1", "tvm-2"))
_FOUND = FailingNodes(to_milliseconds(NOW), 20, _NODES)


def _codes(**changes: Any) -> list[str]:
    return [one.rule for one in explain(evidence(BUSY, failing_nodes=_FOUND, **changes)).findings]


def test_a_note_on_each_node_stands_behind_the_cause() -> None:
    found = explain(evidence(BUSY, failing_nodes=_FOUND))
    assert [one.rule for one in found.findings] == ["slotsBusy", "nodeTasksFail", "nodeTasksFail"]
    assert [one.scope for one in found.findings[1:]] == [Scope("node", "tvm-1"), Scope("node", "tvm-2")]
    assert {one.severity for one in found.findings[1:]} == {"info"}
    assert "fail" not in found.summary


def test_a_job_that_rests_or_has_completed_has_the_notes_and_a_deleted_one_none() -> None:
    at_rest = TaskCounts(completed=3, succeeded=3)
    assert _codes(counts=at_rest)[1:] == ["nodeTasksFail"] * 2
    assert _codes(job=replace(JOB, state="completed")) == ["jobCompleted", "nodeTasksFail", "nodeTasksFail"]
    assert _codes(deleted=True) == ["jobDeleted"]
