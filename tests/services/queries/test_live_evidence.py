"""Requests to Batch that explain a job: a Batch that answers too late costs only the time limit."""

import asyncio
import json
from collections.abc import Collection
from typing import Any, cast, override

from shared.domain.reports.reports import JobReport
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.unknown_facts import UnknownFacts
from shared.stores.batch.batch import BatchAccount
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import World


class Silent:
    """A Batch account that accepts requests and never answers."""

    def __init__(self, account: Any) -> None:
        self.account = account
        self.asked: list[str] = []

    async def read(self, _url: str, intent: str, *, missing: Collection[str] = ()) -> Any:  # noqa: ARG002
        self.asked.append(intent)
        await asyncio.Event().wait()


class Nonsense(Silent):
    """A Batch account that answers with an object without a job's mandatory fields."""

    @override
    async def read(self, _url: str, intent: str, *, missing: Collection[str] = ()) -> Any:
        self.asked.append(intent)
        return b'{"id": "Render"}', None


class Endless(Silent):
    """A Batch account whose list of preparation tasks always has a next page."""

    def __init__(self, report: JobReport) -> None:
        super().__init__(report.account)
        facts = report.job.facts
        at = facts.creation_time.isoformat()
        properties = {"id": facts.id, "creationTime": at, "state": facts.state, "stateTransitionTime": at}
        self.job = json.dumps({**properties, "jobPreparationTask": {"commandLine": "true"}}).encode()

    @override
    async def read(self, _url: str, intent: str, *, missing: Collection[str] = ()) -> Any:
        self.asked.append(intent)
        page = {"value": [{"nodeId": f"tvm-{len(self.asked)}"}], "odata.nextLink": f"next-{len(self.asked)}"}
        return self.job if intent.startswith("get") else json.dumps(page).encode(), None


async def _known(_pool_id: str | None) -> bool:
    return True


def test_an_answer_that_does_not_come_in_time_is_reported(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    process = world.processes[0]
    report = world.report("Render")
    assert report.job.snapshot
    assert report.job.snapshot.counts.active
    silent = Silent(report.account)
    live = LiveEvidence(process.task_queries, process.registry, process.round_store, seconds=7)
    unknown = UnknownFacts()
    found = world.run(live.gather(cast("BatchAccount", silent), report, unknown, knows_pool=_known))
    assert silent.asked == ["get the job 'Render'"]
    assert unknown.sentences == ("Batch didn't answer everything that was asked within 7 seconds.",)
    assert (found.job is report.job.facts, found.deleted, found.dependencies) == (True, False, None)


def test_a_job_that_makes_no_sense_is_a_sentence(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    process, report = world.processes[0], world.report("Render")
    nonsense = Nonsense(report.account)
    live = LiveEvidence(process.task_queries, process.registry, process.round_store)
    unknown = UnknownFacts()
    found = world.run(live.gather(cast("BatchAccount", nonsense), report, unknown, knows_pool=_known))
    assert found.job is report.job.facts
    assert unknown.sentences[0].endswith("sent a job that makes no sense.")


def test_preparation_known_of_some_nodes_only_is_reported(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    process, report = world.processes[0], world.report("Render")
    live = LiveEvidence(process.task_queries, process.registry, process.round_store)
    endless = Endless(report)
    unknown = UnknownFacts()
    found = world.run(live.gather(cast("BatchAccount", endless), report, unknown, knows_pool=_known))
    assert (found.preparation and found.preparation.nodes, len(endless.asked)) == (3, 4)
    assert unknown.sentences == ("How its preparation went is known of 3 nodes only.",)
