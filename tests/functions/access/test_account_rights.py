"""Every route, requested by a caller with rights to one of two accounts: no answer contains data of the other.

A route without a case here fails the first test.
"""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from functions.api.endpoints import ENDPOINTS, Endpoint
from local.azurite import StorageAddresses
from tests.functions.access.two_accounts import (
    ADMINISTRATOR,
    EVERYTHING,
    OPERATOR,
    READER,
    SITE,
    Ids,
    TwoAccounts,
    asked,
    got,
    poll_of,
)
from tests.functions.support.separate_app import Ask, Said, SeparateApp, copy_app

_ACCOUNT = "accounts/{account}"
_JOB, _POOL = f"{_ACCOUNT}/jobs/{{job}}", f"{_ACCOUNT}/pools/{{pool}}"
CASES = {
    "list_accounts": ["accounts"],
    "get_account": [_ACCOUNT],
    "get_monitoring": [f"{_ACCOUNT}/monitoring"],
    "put_monitoring": [f"{_ACCOUNT}/monitoring"],
    "list_jobs": [f"{_ACCOUNT}/jobs", f"{_ACCOUNT}/jobs?includeDeleted=true&format=csv"],
    "get_job": [_JOB],
    "get_job_history": [f"{_JOB}/history"],
    "list_tasks": [f"{_JOB}/tasks", f"{_JOB}/tasks?format=csv"],
    "get_task": [f"{_JOB}/tasks/{{task}}"],
    "list_task_files": [f"{_JOB}/tasks/{{task}}/files"],
    "get_task_file": [f"{_JOB}/tasks/{{task}}/files/{{*path}}"],
    "get_task_output": [f"{_JOB}/tasks/{{task}}/output"],
    "delete_job_outputs": [f"{_JOB}/outputs"],
    "get_timeline": [f"{_JOB}/timeline"],
    "list_failures": [f"{_JOB}/failures"],
    "get_failure_rerun": [f"{_JOB}/failures/{{group}}/rerun"],
    "get_job_comparison": [f"{_JOB}/comparison", f"{_JOB}/comparison?format=csv"],
    "explain_job": [f"{_JOB}/explanation"],
    "list_pools": [f"{_ACCOUNT}/pools", f"{_ACCOUNT}/pools?format=csv"],
    "get_pool": [_POOL],
    "get_account_cost": ["accounts/{account}/cost"],
    "get_job_cost": [f"{_JOB}/cost"],
    "list_quotas": ["accounts/{account}/quotas", "accounts/{account}/quotas?format=csv"],
    "get_account_efficiency": ["accounts/{account}/efficiency", "accounts/{account}/efficiency?format=csv"],
    "get_job_efficiency": [f"{_JOB}/efficiency", f"{_JOB}/efficiency?format=csv"],
    "get_job_what_if": [f"{_JOB}/whatif", f"{_JOB}/whatif?format=csv"],
    "list_waste": ["accounts/{account}/cost/waste", "accounts/{account}/cost/waste?format=csv"],
    "get_cost_summary": ["accounts/{account}/cost/summary"],
    "get_focus_costs": [f"{_ACCOUNT}/cost/focus"],
    "list_budgets": [f"{_ACCOUNT}/budgets"],
    "get_budget": [f"{_ACCOUNT}/budgets/{{budget}}"],
    "put_budget": [f"{_ACCOUNT}/budgets/{{budget}}"],
    "delete_budget": [f"{_ACCOUNT}/budgets/{{budget}}"],
    "list_autoscale_runs": [f"{_POOL}/autoscaleruns"],
    "list_nodes": [f"{_POOL}/nodes"],
    "get_node": [f"{_POOL}/nodes/{{node}}"],
    "list_node_files": [f"{_POOL}/nodes/{{node}}/files", f"{_POOL}/nodes/{{node}}/files?folder=workitems"],
    "get_node_file": [f"{_POOL}/nodes/{{node}}/files/{{*path}}"],
    "get_node_output": [f"{_POOL}/nodes/{{node}}/output"],
    "delete_pool_outputs": [f"{_POOL}/outputs"],
    "list_prices": [f"{_ACCOUNT}/prices", f"{_ACCOUNT}/prices?format=csv"],
    "list_conditions": ["conditions", "conditions?format=csv", "conditions?state=firing"],
    "list_retirements": ["retirements", "retirements?format=csv", "retirements?all=true"],
    "get_pool_what_if": [f"{_POOL}/whatif"],
    "get_pool_queue": [f"{_POOL}/queue", f"{_POOL}/queue?format=csv"],
    "get_pool_cost": [f"{_POOL}/cost", f"{_POOL}/cost?format=csv"],
    "get_pool_startup": [f"{_POOL}/startup", f"{_POOL}/startup?format=csv"],
    "get_pool_agent": [f"{_POOL}/agent"],
    "list_agent_nodes": [f"{_POOL}/agent/nodes"],
    "get_node_states": [f"{_POOL}/nodestates"],
    "get_pool_history": [f"{_POOL}/history"],
    "get_node_telemetry": [f"{_POOL}/nodes/{{node}}/telemetry"],
    "get_pool_telemetry": [f"{_POOL}/telemetry", f"{_POOL}/telemetry?format=csv"],
    "get_node_values": [f"{_POOL}/telemetry/nodes?name=system.uptime"],
    "list_pool_metrics": [f"{_POOL}/telemetry/metrics"],
    "get_account_telemetry": [f"{_ACCOUNT}/telemetry", f"{_ACCOUNT}/telemetry?format=csv"],
    "get_task_telemetry": [f"{_JOB}/tasks/{{task}}/telemetry"],
    "list_job_schedules": [f"{_ACCOUNT}/jobschedules"],
    "get_job_schedule": [f"{_ACCOUNT}/jobschedules/{{schedule}}"],
    "get_schedule_cost": [
        f"{_ACCOUNT}/jobschedules/{{schedule}}/cost",
        f"{_ACCOUNT}/jobschedules/{{schedule}}/cost?format=csv",
    ],
    "list_events": [f"{_ACCOUNT}/events?maxpagesize=1000", f"{_ACCOUNT}/events?format=csv"],
    "get_ingestion": [f"{_ACCOUNT}/ingestion"],
    "list_rejects": [f"{_ACCOUNT}/rejects"],
    "request_poll": [f"{_ACCOUNT}/poll"],
    "get_poll": [f"{_ACCOUNT}/polls/{{poll}}"],
    "get_health": ["health"],
    "get_metrics": ["metrics"],
    "get_openapi": ["openapi.json"],
    "get_docs": ["docs"],
}
"""Paths by route, with the values of each account for its parameters."""
BODIES = {
    "put_monitoring": '{"enabled": true}',
    "put_budget": '{"amount": 7}',
    "delete_budget": "",
    "delete_job_outputs": "",
    "delete_pool_outputs": "",
    "request_poll": '{"all": true}',
}
UNAWARE = {"get_openapi", "get_docs"}
"""Routes whose answers don't depend on the watched accounts."""
OF_AN_ACCOUNT = [endpoint for endpoint in ENDPOINTS if "{account}" in endpoint.path]
READS = [endpoint for endpoint in ENDPOINTS if endpoint.method == "GET"]
WRITES = [endpoint for endpoint in ENDPOINTS if endpoint.method != "GET"]


@dataclass(frozen=True, slots=True)
class Rights:
    """The app, the ids in both accounts, and the texts hidden from those who may see alpha."""

    app: SeparateApp
    copied: Path
    settings: Mapping[str, str]
    alpha: Ids
    bravo: Ids
    hidden: tuple[str, ...]

    def leaks(self, said: Said) -> list[str]:
        text = f"{said.text} {dict(said.headers)}".lower()
        return [marker for marker in self.hidden if marker.lower() in text]


@pytest.fixture(scope="module")
def rights(azurite: StorageAddresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rights]:
    copied = copy_app(tmp_path_factory.mktemp("rights"))
    with in_background() as run:
        accounts = run(TwoAccounts(azurite).__aenter__())
        try:
            with SeparateApp(copied, accounts.settings) as app:
                found = run(accounts.fill(app))
                bravo = found["bravo"]
                events = got(app, "accounts/bravo/events?maxpagesize=1000")["value"]
                hidden = ("bravo", bravo.node, bravo.poll, *(event["id"] for event in events))
                yield Rights(app, copied, accounts.settings, found["alpha"], bravo, hidden)
        finally:
            run(accounts.__aexit__())


@contextmanager
def in_background() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Runs coroutines in a background loop while tests wait for the app, which queries that loop's servers."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_every_route_has_a_case() -> None:
    assert CASES.keys() == {endpoint.name for endpoint in ENDPOINTS}
    for endpoint in ENDPOINTS:
        assert all(path.partition("?")[0] == endpoint.path for path in CASES[endpoint.name])


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.name)
def test_a_reader_of_one_account_sees_all_of_it_and_nothing_of_the_other(rights: Rights, endpoint: Endpoint) -> None:
    for path in CASES[endpoint.name]:
        own = rights.alpha.in_path(path)
        whole, first, again, operators = asked(rights.app, own, EVERYTHING, READER, READER, OPERATOR)
        for said in (first, again, operators):
            assert (said.status, rights.leaks(said)) == (200, []), (path, said.text)
        if "{account}" in path:
            assert blurred(first) == blurred(again) == blurred(operators) == blurred(whole)
        elif endpoint.name not in UNAWARE:
            assert "bravo" in whole.text, "this shows nothing unless there is something to hide"
            assert first.text != whole.text
        (head,) = rights.app.ask([Ask("HEAD", f"{SITE}/api/{own}", READER)])
        assert (head.status, rights.leaks(head)) == (200, [])


def blurred(said: Said) -> tuple[int, str]:
    """Returns an answer without ages and poll times."""
    return said.status, re.sub(r"[\d.]+", "0", said.text)


@pytest.mark.parametrize("endpoint", OF_AN_ACCOUNT, ids=lambda endpoint: endpoint.name)
def test_an_account_that_may_not_be_seen_answers_as_one_that_is_not_there(rights: Rights, endpoint: Endpoint) -> None:
    for caller in (READER, OPERATOR):
        for path in CASES[endpoint.name]:
            there = rights.bravo.in_path(path)
            absent = there.replace("accounts/bravo", "accounts/gamma")
            body = BODIES.get(endpoint.name, "")
            asks = [Ask(endpoint.method, f"{SITE}/api/{one}", caller, body) for one in (there, absent)]
            hidden, missing = rights.app.ask(asks)
            assert hidden.status == 404, (path, hidden.text)
            assert json.loads(hidden.text)["error"]["code"] == "AccountNotFound"
            assert shown(hidden, "bravo") == shown(missing, "gamma")
            (open_to_others,) = rights.app.ask([Ask(endpoint.method, f"{SITE}/api/{there}", EVERYTHING, body)])
            assert open_to_others.status in (200, 202, 204), open_to_others.text


def shown(said: Said, account: str) -> tuple[int, dict[str, str], str]:
    headers = {name: value for name, value in said.headers.items() if name != "x-ms-request-id"}
    return said.status, headers, said.text.replace(f"'{account}'", "'…'")


@pytest.mark.parametrize("endpoint", WRITES, ids=lambda endpoint: endpoint.name)
def test_only_operators_of_an_account_change_it(rights: Rights, endpoint: Endpoint) -> None:
    (path,) = CASES[endpoint.name]
    url, body = f"{SITE}/api/{rights.alpha.in_path(path)}", BODIES[endpoint.name]
    reader, operator = rights.app.ask([Ask(endpoint.method, url, caller, body) for caller in (READER, OPERATOR)])
    assert (reader.status, json.loads(reader.text)["error"]["code"]) == (403, "Forbidden")
    assert "the role Operator of this account" in reader.text
    assert operator.status in (200, 202, 204), operator.text
    assert rights.leaks(reader) == rights.leaks(operator) == []


def test_entities_of_another_account_are_not_found_in_ones_own(rights: Rights) -> None:
    alpha, bravo = rights.alpha, rights.bravo
    for path in (
        f"accounts/alpha/jobs/{bravo.job}",
        f"accounts/alpha/jobs/{bravo.job}/tasks/{bravo.task}",
        f"accounts/alpha/pools/{bravo.pool}/nodes/{bravo.node}",
        f"accounts/alpha/pools/{alpha.pool}/nodes/{bravo.node}",
        f"accounts/alpha/jobschedules/{bravo.schedule}",
        f"accounts/alpha/polls/{bravo.poll}",
        "accounts/alpha/../bravo",
        "accounts/alpha%2f..%2fbravo",
    ):
        (said,) = asked(rights.app, path, READER)
        assert said.status == 404, (path, said.text)
    for path in (f"events?job={bravo.job}", f"jobs?poolId={bravo.pool}", f"jobs?schedule={bravo.schedule}"):
        (said,) = asked(rights.app, f"accounts/alpha/{path}", READER)
        assert json.loads(said.text)["value"] == []


def test_retirements_are_listed_for_one_account_only_to_its_readers(rights: Rights) -> None:
    for name in ("alpha", "bravo"):
        (said,) = asked(rights.app, f"retirements?account={name}", EVERYTHING)
        pools = [pool for entry in json.loads(said.text)["value"] for pool in entry["pools"]]
        assert {pool["account"] for pool in pools} == {name}
    hidden, missing = (asked(rights.app, f"retirements?account={name}", READER)[0] for name in ("bravo", "gamma"))
    assert hidden.status == 404
    assert shown(hidden, "bravo") == shown(missing, "gamma")
    (own,) = asked(rights.app, "retirements?account=alpha", READER)
    assert (own.status, rights.leaks(own)) == (200, [])
    assert json.loads(own.text)["value"]


def test_an_entity_tag_of_somebody_elses_answer_brings_ones_own(rights: Rights) -> None:
    for path in ("accounts", "metrics"):
        whole, own = asked(rights.app, path, EVERYTHING, READER)
        (again,) = asked(rights.app, path, READER, if_none_match=whole.headers["etag"])
        assert again.status == 200
        assert rights.leaks(again) == []
        assert whole.headers["etag"] != own.headers["etag"]


def test_every_page_of_every_list_keeps_to_the_account(rights: Rights) -> None:
    for path in ("jobs", "pools", "events", f"jobs/{rights.alpha.job}/tasks", "jobschedules", "rejects"):
        url, pages = f"accounts/alpha/{path}?maxpagesize=1", 0
        while url:
            (said,) = asked(rights.app, url, READER)
            assert (said.status, rights.leaks(said)) == (200, []), said.text
            url, pages = json.loads(said.text).get("nextLink", "").partition("/api/")[2], pages + 1
        assert pages > 1, path


def test_a_poll_of_ones_own_account_says_nothing_of_the_other(rights: Rights) -> None:
    (polled,) = rights.app.ask([poll_of("alpha", '{"all": true}', OPERATOR)])
    assert (polled.status, rights.leaks(polled)) == (200, [])
    (mixed,) = rights.app.ask([poll_of("alpha", f'{{"jobs": ["{rights.bravo.job}"]}}', OPERATOR)])
    found = json.loads(mixed.text)
    assert re.sub(rights.bravo.job, "", json.dumps(found)).count("bravo") == 0
    assert found["status"] != "succeeded"


@pytest.mark.parametrize("wrong", ["bravo=ftp://bravo.example", "bravo=http://127.0.0.1:1 bravo=http://127.0.0.1:1"])
def test_setting_problems_are_shown_only_to_readers_of_every_account(rights: Rights, wrong: str) -> None:
    accounts = f"alpha={rights.settings['BATCH_ACCOUNTS'].split()[0].partition('=')[2]} {wrong}"
    with SeparateApp(rights.copied, {**rights.settings, "BATCH_ACCOUNTS": accounts}) as app:
        for path in ("health", "accounts", "accounts/alpha", "accounts/bravo", "metrics"):
            for said in asked(app, path, READER, OPERATOR, {}):
                assert (said.status, "bravo" in said.text) in ((503, False), (401, False)), (path, said.text)
        (whole,) = asked(app, "health", ADMINISTRATOR)
        assert "bravo" in whole.text
