"""Nodes of a pool are unusable or lost, or their start task failed: they cost, and run no tasks."""

from collections.abc import Iterator

from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rule import Outcome
from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.findings.thresholds import MIN_UNUSABLE_SHARE
from shared.domain.nodes.nodes import START_TASK_FAILED, UNKNOWN, by_state
from shared.domain.reports.reports import PoolReport

NODES_UNUSABLE, START_TASKS_FAILED = "nodesUnusable", "startTasksFailed"
_UNUSABLE = ("unusable", UNKNOWN)


def unusable(e: AccountEvidence) -> Iterator[Outcome]:
    advice = "Reboot or reimage them, or remove them and let the pool get others; the nodes' errors say more."
    yield from _nodes(e, NODES_UNUSABLE, _UNUSABLE, "can't be used", advice)


def start_tasks_failed(e: AccountEvidence) -> Iterator[Outcome]:
    advice = (
        "Their start task failed. See what it wrote, on the pool's page; correct it, and reboot or replace these nodes."
    )
    yield from _nodes(e, START_TASKS_FAILED, (START_TASK_FAILED,), "failed to start", advice)


def _nodes(e: AccountEvidence, rule: str, states: tuple[str, ...], what: str, advice: str) -> Iterator[Outcome]:
    for report in e.pools:
        number, total = _count(report, states)
        if number and number >= MIN_UNUSABLE_SHARE * total:
            yield Outcome(
                Finding(
                    rule=rule,
                    scope=Scope("pool", report.pool.facts.id),
                    severity="blocking" if number == total else "limiting",
                    title=f"{number:,} of {amount(total, 'node')} of '{report.pool.facts.id}' {what}",
                    sentence=f"{number:,} of the pool's {amount(total, 'node')} {what}.",
                    advice=advice,
                    evidence={"affectedNodes": number, "nodes": total, "asOf": report.verdict.as_of},
                    amount=Amount(number, "nodes"),
                )
            )


def _count(report: PoolReport, states: tuple[str, ...]) -> tuple[int, int]:
    """Returns the number of a pool's nodes in some states, and of all."""
    snapshot = report.pool.snapshot
    if snapshot is None:
        return 0, 0
    counts = by_state(snapshot.summary.counts)
    return sum(counts.get(state, 0) for state in states), snapshot.summary.total
