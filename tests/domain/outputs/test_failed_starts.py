"""Which failed runs of start tasks are chosen, and why others aren't kept."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import key_of
from shared.domain.nodes.nodes import FAILURE, SUCCESS, Node, StartRun
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import (
    MAX_OF_POOL,
    FailingPool,
    chosen_starts,
    failed_start,
    failing_pools,
    key_of_start,
    key_of_starts,
    start_of,
)
from shared.domain.outputs.kept_outputs import JobOutputs, OutputMark
from shared.domain.outputs.output_limits import MAX_READ, OutputRate, SpentOutputs
from shared.domain.outputs.unkept_outputs import KeepingConditions, sentence_of, why_start_without_row

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_MS = 86_400_000
EACH = 5
RATE = OutputRate(10 * MAX_READ, 60)
RUN = StartRun("completed", FAILURE, 3, start=5000, end=6000, retries=2, code="FailureExitCode")
NODE = Node("Node-1", "starttaskfailed", start=RUN)


def run(node: str, ended: int = 6000) -> FailedRun:
    return FailedRun(ended, key_of_start(node, ended), "", ("pool", node))


def test_a_failed_start_task_is_a_run_of_its_node_and_start() -> None:
    found = failed_start("Pool", NODE)
    assert found == FailedRun(
        6000, "node-1~0000000005000", "FailureExitCode", ("Pool", "Node-1"), "Node-1", attempt=3, exit_code=3
    )
    assert start_of(found) == 5000
    pools = failing_pools("Pool", [NODE, NODE._replace(id="n2", start=None), NODE._replace(id="n3")])
    (pool,) = pools.values()
    assert [one.node[1] for one in pool.runs] == ["Node-1", "n3"]
    assert pools == {key_of_starts("pool"): pool}
    assert failing_pools("Pool", [NODE._replace(start=None)]) == {}


def test_start_tasks_that_run_or_did_well_are_not_failed_runs() -> None:
    for other in (RUN._replace(result=SUCCESS), RUN._replace(end=0), RUN._replace(result=""), None):
        assert failed_start("pool", NODE._replace(start=other)) is None


@given(st.text(min_size=1, max_size=20))
def test_no_job_has_the_key_of_a_pool(name: str) -> None:
    assert key_of(name) != key_of_starts(name)
    assert key_of_starts(name).count("~") == 2


def test_keys_of_a_nodes_runs_sort_by_their_start() -> None:
    starts = [0, 9, 10, 1_795_694_400_123]
    keys = [key_of_start("n1", start) for start in starts]
    assert keys == sorted(keys)
    assert max(keys) < "n1~:"
    assert key_of_start("n1-", 0) > "n1~:" or key_of_start("n1-", 0) < "n1~"


def test_the_first_of_a_pool_and_day_are_chosen() -> None:
    runs = [run(f"n{at:02}", DAY_MS + at) for at in range(MAX_OF_POOL + 5)]
    assert chosen_starts(reversed(runs), JobOutputs(), 0, EACH) == runs[:MAX_OF_POOL]
    assert chosen_starts(runs, JobOutputs(kept=tuple(runs[:MAX_OF_POOL])), 0, EACH) == []
    assert chosen_starts(runs, JobOutputs(missed=tuple(runs[:3])), 0, EACH) == runs[3 : MAX_OF_POOL + 3]
    later = run("late", 2 * DAY_MS)
    assert chosen_starts([later, *runs], JobOutputs(kept=tuple(runs[:MAX_OF_POOL])), 0, EACH) == [later]
    assert chosen_starts(runs, JobOutputs(), DAY_MS + MAX_OF_POOL, EACH) == runs[MAX_OF_POOL:]


def test_a_node_that_fails_again_and_again_leaves_room_for_others() -> None:
    runs = [run("n1", at) for at in range(1, EACH + 5)]
    assert chosen_starts([*runs, run("n2", 99)], JobOutputs(), 0, EACH) == [*runs[:EACH], run("n2", 99)]
    assert chosen_starts(runs, JobOutputs(missed=tuple(runs[:EACH])), 0, EACH) == []


def test_nodes_that_were_gone_take_no_place_of_others_up_to_a_bound() -> None:
    gone = tuple(run(f"g{at:03}", at + 1) for at in range(5 * MAX_OF_POOL))
    assert chosen_starts([run("n1", 9999)], JobOutputs(missed=gone[1:]), 0, EACH) == [run("n1", 9999)]
    assert chosen_starts([run("n1", 9999)], JobOutputs(missed=gone), 0, EACH) == []


def test_runs_of_an_earlier_poll_stay_due() -> None:
    first, second = FailingPool("pool", (run("n1"), run("n2"))), FailingPool("pool", (run("n2"), run("n3")))
    assert [one.node[1] for one in second.joined(first).runs] == ["n1", "n2", "n3"]


def test_each_start_task_without_a_kept_output_has_a_reason() -> None:
    def why(kept: JobOutputs, **changes: Any) -> str:
        conditions = KeepingConditions(EPOCH, DAY, SpentOutputs().at(EPOCH), EACH, RATE)
        code = why_start_without_row(run("n1"), kept, replace(conditions, **changes))
        assert sentence_of(code).endswith(".")
        return code

    spent = SpentOutputs().at(EPOCH)
    assert why(JobOutputs(), kept_for=timedelta()) == "NotKeptHere"
    assert why(JobOutputs(OutputMark(after=6001))) == "Gone"
    assert why(JobOutputs(), now=EPOCH + DAY + timedelta(seconds=7)) == "Gone"
    assert why(JobOutputs(kept=tuple(run(f"o{at}") for at in range(MAX_OF_POOL)))) == "PoolBound"
    assert why(JobOutputs(), spent=spent.plus(tasks=0, read=10 * MAX_READ)) == "BudgetSpent"
    assert why(JobOutputs(), spent=spent.plus(tasks=60, read=0)) == "NotYet"
    assert why(JobOutputs(OutputMark(after=6000))) == "NotYet"
    assert why(JobOutputs(), is_watched=False) == "MonitoringOff"
    assert why(JobOutputs(), has_polls=False) == "PollFailed"
