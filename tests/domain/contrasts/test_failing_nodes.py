"""Nodes whose tasks fail beyond what chance explains, against the other nodes of the pool in the same jobs."""

import shlex
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.contrasts.node_outcomes import Outcomes, Stratum, failing_nodes, node_outcomes
from shared.domain.contrasts.rules.failing_nodes import failing_node_findings, stored_node_findings
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes, NodePlace
from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, SUCCESS, Task
from tests.domain.contrasts.made_jobs import Draws

_AS_OF = datetime(2026, 11, 21, 7, tzinfo=UTC)
_MS = to_milliseconds(_AS_OF)


def _drawn(seed: int, rates: Iterable[tuple[str, float]], tasks: int, job: str = "job") -> dict[NodePlace, Outcomes]:
    dice = Draws(f"{job} {seed}")
    return {("pool", node): Outcomes(tasks, sum(dice.random() < rate for _ in range(tasks))) for node, rate in rates}


def _nodes(count: int, rate: float, **others: float) -> list[tuple[str, float]]:
    return [(f"n{at}", others.get(f"n{at}", rate)) for at in range(count)]


def _ids(found: Iterable[FailingNode]) -> list[str]:
    return [one.place[1] for one in found]


def test_a_bad_node_is_found_in_each_of_twenty_jobs() -> None:
    for seed in range(20):
        outcomes = {Stratum("job", "pool"): _drawn(seed, _nodes(20, 0.05, n7=0.7), 30)}
        assert _ids(failing_nodes(outcomes)) == ["n7"]


def test_of_a_hundred_pools_without_a_bad_node_at_most_one_has_one() -> None:
    found = [
        failing_nodes({Stratum("job", "pool"): _drawn(seed, _nodes(count, rate), tasks)})
        for seed in range(25)
        for count, rate, tasks in ((10, 0.1, 20), (100, 0.03, 8), (40, 0.5, 12), (6, 0.02, 200))
    ]
    assert sum(map(bool, found)) <= 1


def test_two_bad_nodes_do_not_hide_each_other() -> None:
    outcomes = {Stratum("job", "pool"): _drawn(3, _nodes(8, 0.03, n2=0.9, n5=0.6), 40)}
    assert _ids(failing_nodes(outcomes)) == ["n2", "n5"]


def test_a_node_is_not_blamed_for_the_jobs_that_it_got() -> None:
    """In one job half of all tasks fail, on every node; n0 ran most of these, and little of the sound one."""
    bad = {("pool", f"n{at}"): Outcomes(80 if at == 0 else 8, 40 if at == 0 else 4) for at in range(6)}
    sound = {("pool", f"n{at}"): Outcomes(4 if at == 0 else 100, 0) for at in range(6)}
    assert failing_nodes({Stratum("bad", "pool"): bad, Stratum("sound", "pool"): sound}) == []
    together = {("pool", f"n{at}"): Outcomes(84 if at == 0 else 108, 40 if at == 0 else 4) for at in range(6)}
    assert _ids(failing_nodes({Stratum("both", "pool"): together})) == ["n0"]


def test_a_few_failures_in_each_of_several_jobs_add_up() -> None:
    outcomes = {
        Stratum(f"job{number}", "pool"): {
            ("pool", f"n{at}"): Outcomes(5, 2 if at == 1 else int(at == number)) for at in range(12)
        }
        for number in range(2, 8)
    }
    (found,) = failing_nodes(outcomes)
    assert (found.place[1], found.jobs, found.failed, found.ended, found.other_nodes) == ("n1", 6, 12, 30, 11)
    assert failing_nodes({stratum: outcomes[stratum] for stratum in list(outcomes)[:1]}) == []


def test_nodes_that_all_differ_do_not_stand_out() -> None:
    dice = Draws("rates")
    nodes = [(f"n{at}", dice.uniform(0.0, 0.5)) for at in range(30)]
    assert failing_nodes({Stratum("job", "pool"): _drawn(1, nodes, 200)}) == []


def test_a_pool_of_two_nodes_and_a_node_alone_say_nothing() -> None:
    assert failing_nodes({Stratum("job", "pool"): _drawn(1, _nodes(2, 0.0, n1=1.0), 50)}) == []
    assert failing_nodes({Stratum("job", "pool"): _drawn(1, _nodes(1, 1.0), 50)}) == []
    assert failing_nodes({}) == []


def test_ended_tasks_count_by_job_pool_and_node() -> None:
    tasks = [
        Task("a", COMPLETED, SUCCESS, node=("Pool", "n1")),
        Task("b", COMPLETED, FAILURE, node=("Pool", "n1")),
        Task("c", RUNNING, node=("Pool", "n1")),
        Task("d", COMPLETED, FAILURE),
    ]
    assert node_outcomes("job", tasks) == {Stratum("job", "pool"): {("Pool", "n1"): Outcomes(2, 1)}}


def test_the_finding_names_figures_and_commands() -> None:
    node = FailingNode(("gpus", "tvm-1"), ended=40, failed=31, expected=1.62, other_nodes=9, jobs=1, p_value=1.2345e-9)
    (found,) = failing_node_findings([node])
    assert (found.rule, found.scope.kind, found.scope.id, found.severity) == ("nodeTasksFail", "node", "tvm-1", "info")
    assert found.sentence == (
        "31 of 40 tasks failed on node 'tvm-1' of pool 'gpus'; at the rate of its other nodes in this job, 1.6 would "
        "have. Chance doesn't explain that."
    )
    assert "az batch node scheduling disable --pool-id=gpus --node-id=tvm-1;" in found.advice
    assert found.advice.endswith("az batch node delete --pool-id=gpus --node-list=tvm-1")
    assert found.evidence == {
        "poolId": "gpus", "nodeId": "tvm-1", "failedTasks": 31, "endedTasks": 40, "expectedFailedTasks": 1.62,
        "otherNodes": 9, "comparedJobs": 1, "pValue": 1.23e-9,
    }  # fmt: skip


def test_a_stored_finding_names_its_job_and_its_date() -> None:
    node = FailingNode(("gpus", "tvm-1"), ended=40, failed=31, expected=1.62, other_nodes=9, jobs=1, p_value=1.2345e-9)
    stored = FailingNodes(_MS, 35, (node,))
    (found,) = stored_node_findings("Nightly", stored)
    assert found.sentence.endswith(
        "at the rate of its other nodes in job 'Nightly', 1.6 would have. Chance doesn't explain that."
    )
    assert (found.evidence["jobId"], found.evidence["asOf"]) == ("Nightly", _AS_OF)
    (found,) = stored_node_findings("Nightly", stored._replace(is_part=True))
    assert "1.6 would have, as far as a part of its tasks shows." in found.sentence
    assert FailingNodes.of_plain(stored.plain()) == stored


def test_stored_nodes_hold_for_half_an_hour_after_more_tasks_failed() -> None:
    stored = FailingNodes(_MS, 35, ())
    assert stored.holds(35, _AS_OF + timedelta(days=3))
    assert stored.holds(36, _AS_OF + timedelta(minutes=29))
    assert not stored.holds(36, _AS_OF + timedelta(minutes=30))
    assert not stored.holds(0, _AS_OF)


@pytest.mark.parametrize(
    "name", ["$(reboot)", "a; rm -rf ~", "it's", "--all", "`id`", "new\nline", "&& x", 'quo"te', "*", "\\", "ü"]
)
def test_commands_quote_ids_for_the_shell(name: str) -> None:
    node = FailingNode((name, name), ended=9, failed=9, expected=0.1, other_nodes=9, jobs=2, p_value=0.0)
    (found,) = failing_node_findings([node])
    command = found.advice[found.advice.index("az batch node delete") :]
    assert shlex.split(command) == ["az", "batch", "node", "delete", f"--pool-id={name}", f"--node-list={name}"]
    first = found.advice[found.advice.index("az batch node scheduling") : found.advice.rindex("; then remove it")]
    assert shlex.split(first)[-2:] == [f"--pool-id={name}", f"--node-id={name}"]
