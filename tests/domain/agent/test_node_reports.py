"""Why a node doesn't report: each reason, and which of several is named."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.agent.node_reports import RULES, reason_of
from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.core.stamps import to_milliseconds
from shared.domain.findings.finding import Scope
from shared.domain.nodes.nodes import Node, StartRun

T0 = datetime(2026, 11, 28, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def node(state: str = "idle", *, start: StartRun | None = None) -> Node:
    return Node("tvm-1", state, booted=to_milliseconds(T0), start=start)


def run(*, begun: datetime = T0, result: str = "success", code: int = 0) -> StartRun:
    return StartRun("completed", result, code, start=to_milliseconds(begun))


FAILED = run(result="failure", code=3)
CASES = {
    "nodeWithoutMachine": ReportEvidence(node("preempted"), seen=T0),
    "nodeStarting": ReportEvidence(node("waitingforstarttask"), starts_agent=True),
    "nodeOutOfReach": ReportEvidence(node("unusable"), seen=T0, starts_agent=True),
    "blobUnreadable": ReportEvidence(node(start=FAILED), blob="a/b.bin", unread="It isn't read.", starts_agent=True),
    "startTaskFailed": ReportEvidence(node("starttaskfailed", start=FAILED), starts_agent=True),
    "agentStopped": ReportEvidence(node(), seen=T0, starts_agent=True),
    "startTaskWithoutAgent": ReportEvidence(node(start=run())),
    "startedBeforeAgent": ReportEvidence(node(start=run()), starts_agent=True, first_start=T0 + HOUR),
    "nothingArrived": ReportEvidence(node(start=run()), starts_agent=True, first_start=T0 - HOUR),
}


@pytest.mark.parametrize("rule", CASES)
def test_each_reason_is_named_by_its_rule(rule: str) -> None:
    found = reason_of(CASES[rule])
    assert found is not None
    assert (found.rule, found.scope, found.since) == (rule, Scope("node", "tvm-1"), CASES[rule].seen)
    assert found.sentence.endswith(".")
    assert found.advice.endswith(".")


def test_a_node_of_which_nothing_arrived_is_looked_at_where_its_agent_writes_why() -> None:
    found = reason_of(CASES["nothingArrived"])
    assert found is not None
    assert all(file in found.advice for file in ("stderr.txt", "agent.log"))


def test_every_rule_has_a_case() -> None:
    assert len(RULES) == len(CASES)


def test_a_node_whose_start_task_is_retried_after_a_failure_is_not_called_starting() -> None:
    retried = StartRun("running", "failure", 3, retries=2)
    found = reason_of(ReportEvidence(node("waitingforstarttask", start=retried), starts_agent=True))
    assert found is not None
    assert found.rule == "startTaskFailed"
    assert "with exit code 3" in found.sentence


def test_a_node_that_reported_without_the_pools_start_task_is_not_told_to_take_it() -> None:
    found = reason_of(ReportEvidence(node(), seen=T0))
    assert found is not None
    assert found.rule == "agentStopped"
    assert "2026-11-28 12:00 UTC" in found.sentence


def test_nodes_that_start_together_are_not_taken_for_older_ones() -> None:
    for gap, rule in ((timedelta(minutes=14), "nothingArrived"), (timedelta(minutes=15), "startedBeforeAgent")):
        found = reason_of(ReportEvidence(node(start=run()), starts_agent=True, first_start=T0 + gap))
        assert found is not None
        assert found.rule == rule


def test_a_node_without_a_start_task_is_judged_by_its_boot() -> None:
    assert ReportEvidence(node()).start == T0
    assert ReportEvidence(Node("tvm-2", "idle")).start is None
