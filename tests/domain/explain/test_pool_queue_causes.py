"""Causes in the queue of a pool: those of the explanations of its jobs by the same facts."""

from typing import Any

import pytest

from shared.domain.explain import pool_nodes
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.explanation import explain
from shared.domain.explain.pool_nodes import PoolNodes, standing_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.nodes.nodes import Node
from shared.domain.pools.pool_facts import Size
from tests.domain.explain.made_evidence import BUSY, COMING, FAILED, IDLE, NOW, SHUT, pool
from tests.domain.explain.made_queue import SECOND, job, queue

BOUND = JobRules(max_parallel_tasks=2)
GROWING: dict[str, Any] = {"allocation_state": "resizing", "dedicated": Size(1, 4)}
HALF = Node("half", "running", slots=1, tasks=1)
COMING_TOO, SHUT_TOO = COMING._replace(id="too"), SHUT._replace(id="too")
POOLS: dict[str, tuple[tuple[Node, ...], dict[str, Any]]] = {
    "full": ((BUSY,), {}),
    "full, and one with room for narrow tasks": ((BUSY, HALF), {}),
    "growing": ((BUSY,), GROWING),
    "growing while nodes start": ((BUSY, COMING), {**GROWING, "dedicated": Size(2, 3)}),
    "more nodes start than take tasks": ((BUSY, COMING, COMING_TOO), {}),
    "nodes start beside a free one": ((IDLE, COMING, COMING_TOO), {}),
    "growing from nothing": ((), {"allocation_state": "resizing", "dedicated": Size(0, 4)}),
    "all nodes are switched off": ((SHUT,), {}),
    "most nodes are switched off": ((SHUT, SHUT_TOO, BUSY), {}),
    "all start tasks fail": ((FAILED,), {}),
}


@pytest.mark.parametrize("name", POOLS)
def test_the_cause_is_the_first_finding_of_the_explanation_of_the_same_facts(name: str) -> None:
    nodes, changes = POOLS[name]
    few = (job("few", 2, tasks=1), job("few too", 2, tasks=1, running=1))
    many = (job("high", 5, tasks=400), job("runs", tasks=40, running=2), job("waits", tasks=40), job("low", -1))
    wide = (job("narrow", 1, tasks=2), job("wide", slots=2), job("wide and runs", slots=2, running=1))
    for jobs in (few, many, wide, (*few, *wide), (job("bound", 9, running=2, rules=BOUND, tasks=9), *many)):
        for found in queue(*jobs, nodes=nodes, **changes):
            own, others = found.waiting, [each.job for each in jobs if each is not found.waiting]
            explained = Evidence(
                NOW, own.facts, own.job.rules, counts=own.job.counts, waiting_slots=own.job.waiting_slots,
                waiting=own.waiting, pool=pool(*nodes, **changes), nodes=PoolNodes(nodes), competing_jobs=tuple(others),
            )  # fmt: skip
            first = explain(explained).findings[0]
            assert found.cause
            assert (own.job.id, found.cause.rule, found.cause.title) == (own.job.id, first.rule, first.title)


def test_while_a_pool_grows_a_job_behind_others_waits_for_their_tasks_and_not_for_the_nodes() -> None:
    high, low = queue(job("high", 5, tasks=400), job("low"), **GROWING)
    assert [one.cause.rule for one in (high, low) if one.cause] == ["poolResizing", "higherPriorityJobs"]
    assert low.expected_start == NOW + 401 * 6 * SECOND
    found = queue(job("high", 5, tasks=400), job("low"), nodes=(BUSY, COMING, COMING_TOO))
    assert [one.cause.rule for one in found if one.cause] == ["nodesStarting", "higherPriorityJobs"]


def test_nodes_are_judged_once_for_all_jobs_and_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = list[Node]()

    def counted(node: Node) -> str:
        judged.append(node)
        return standing_of(node)

    monkeypatch.setattr(pool_nodes, "standing_of", counted)
    nodes = (BUSY, COMING, COMING_TOO)
    assert len(queue(*(job(f"{number}", slots=1 + number % 2) for number in range(9)), nodes=nodes)) == 9
    assert judged == list(nodes)
