"""Every function of the app, by every method, for every kind of caller: the status and the exact headers.

The app runs as in Azure, from a copy of the deployed files, with the settings that the platform creates behind App
Service authentication.
"""

import base64
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.azurite import StorageAddresses
from tests.functions.support.separate_app import PAGE, SECRET, Ask, Said, SeparateApp, copy_app

SITE = "https://batchscope.example"
HOSTED = {"WEBSITE_SITE_NAME": "batchscope", "WEBSITE_AUTH_ENABLED": "True"}


def principal(*roles: str) -> dict[str, str]:
    claims = [{"typ": "name", "val": "Operator"}, *({"typ": "roles", "val": role} for role in roles)]
    return {"x-ms-client-principal": base64.b64encode(json.dumps({"claims": claims}).encode()).decode()}


CALLERS = {
    "stranger": {},
    "forger": {"x-ms-client-principal": "Operator", "x-ms-client-principal-id": "1"},
    "nobody": principal(),
    "reader": principal("Reader"),
    "operator": principal("Operator"),
}
ANYBODY = frozenset(CALLERS)
READERS, OPERATORS = frozenset({"reader", "operator"}), frozenset({"operator"})
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Route:
    """A function's address, its permitted callers and their answers."""

    route: str
    path: str
    who: frozenset[str]
    status: int = 200
    methods: tuple[str, ...] = ("GET", "HEAD")
    kind: str = JSON
    body: str = ""


_ACCOUNT, _JOB = "api/accounts/{account}", "api/accounts/{account}/jobs/{job}"
_POOL = "api/accounts/{account}/pools/{pool}"
ROUTES = {
    "list_accounts": Route("api/accounts", "/api/accounts", READERS),
    "get_account": Route(_ACCOUNT, "/api/accounts/demo", READERS),
    "get_monitoring": Route(f"{_ACCOUNT}/monitoring", "/api/accounts/demo/monitoring", READERS),
    "put_monitoring": Route(
        f"{_ACCOUNT}/monitoring", "/api/accounts/demo/monitoring", OPERATORS, methods=("PUT",), body='{"enabled": true}'
    ),
    "list_jobs": Route(f"{_ACCOUNT}/jobs", "/api/accounts/demo/jobs", READERS),
    "get_job": Route(_JOB, "/api/accounts/demo/jobs/none", READERS, 404),
    "get_job_history": Route(f"{_JOB}/history", "/api/accounts/demo/jobs/none/history", READERS, 404),
    "list_failures": Route(f"{_JOB}/failures", "/api/accounts/demo/jobs/none/failures", READERS, 404),
    "explain_job": Route(f"{_JOB}/explanation", "/api/accounts/demo/jobs/none/explanation", READERS, 404),
    "list_tasks": Route(f"{_JOB}/tasks", "/api/accounts/demo/jobs/none/tasks", READERS, 404),
    "list_task_files": Route(
        f"{_JOB}/tasks/{{task}}/files", "/api/accounts/demo/jobs/none/tasks/none/files", READERS, 404
    ),
    "get_task_file": Route(
        f"{_JOB}/tasks/{{task}}/files/{{*path}}", "/api/accounts/demo/jobs/none/tasks/none/files/a/b", READERS, 404
    ),
    "get_task_output": Route(
        f"{_JOB}/tasks/{{task}}/output", "/api/accounts/demo/jobs/none/tasks/none/output", READERS, 404
    ),
    "delete_job_outputs": Route(
        f"{_JOB}/outputs", "/api/accounts/demo/jobs/none/outputs", OPERATORS, 404, methods=("DELETE",)
    ),
    "get_node_output": Route(
        f"{_POOL}/nodes/{{node}}/output", "/api/accounts/demo/pools/none/nodes/none/output", READERS, 404
    ),
    "delete_pool_outputs": Route(
        f"{_POOL}/outputs", "/api/accounts/demo/pools/none/outputs", OPERATORS, 404, methods=("DELETE",)
    ),
    "get_task": Route(f"{_JOB}/tasks/{{task}}", "/api/accounts/demo/jobs/none/tasks/none", READERS, 404),
    "get_timeline": Route(f"{_JOB}/timeline", "/api/accounts/demo/jobs/none/timeline", READERS, 404),
    "list_job_schedules": Route(f"{_ACCOUNT}/jobschedules", "/api/accounts/demo/jobschedules", READERS),
    "get_job_schedule": Route(
        f"{_ACCOUNT}/jobschedules/{{schedule}}", "/api/accounts/demo/jobschedules/none", READERS, 404
    ),
    "get_schedule_cost": Route(
        f"{_ACCOUNT}/jobschedules/{{schedule}}/cost", "/api/accounts/demo/jobschedules/none/cost", READERS, 404
    ),
    "list_pools": Route(f"{_ACCOUNT}/pools", "/api/accounts/demo/pools", READERS),
    "get_pool": Route(_POOL, "/api/accounts/demo/pools/none", READERS, 404),
    "get_pool_history": Route(f"{_POOL}/history", "/api/accounts/demo/pools/none/history", READERS, 404),
    "list_autoscale_runs": Route(f"{_POOL}/autoscaleruns", "/api/accounts/demo/pools/none/autoscaleruns", READERS, 404),
    "list_nodes": Route(f"{_POOL}/nodes", "/api/accounts/demo/pools/none/nodes", READERS, 404),
    "get_account_cost": Route(f"{_ACCOUNT}/cost", "/api/accounts/demo/cost", READERS),
    "get_job_cost": Route(f"{_JOB}/cost", "/api/accounts/demo/jobs/none/cost", READERS, 404),
    "list_quotas": Route(f"{_ACCOUNT}/quotas", "/api/accounts/demo/quotas", READERS),
    "get_account_efficiency": Route(f"{_ACCOUNT}/efficiency", "/api/accounts/demo/efficiency", READERS),
    "get_job_efficiency": Route(f"{_JOB}/efficiency", "/api/accounts/demo/jobs/none/efficiency", READERS, 404),
    "get_pool_what_if": Route(f"{_POOL}/whatif", "/api/accounts/demo/pools/none/whatif", READERS, 404),
    "get_failure_rerun": Route(
        f"{_JOB}/failures/{{group}}/rerun", "/api/accounts/demo/jobs/none/failures/none/rerun", READERS, 404
    ),
    "get_job_comparison": Route(f"{_JOB}/comparison", "/api/accounts/demo/jobs/none/comparison", READERS, 404),
    "get_job_what_if": Route(f"{_JOB}/whatif", "/api/accounts/demo/jobs/none/whatif", READERS, 404),
    "list_waste": Route(f"{_ACCOUNT}/cost/waste", "/api/accounts/demo/cost/waste", READERS),
    "get_cost_summary": Route(f"{_ACCOUNT}/cost/summary", "/api/accounts/demo/cost/summary", READERS),
    "get_focus_costs": Route(
        f"{_ACCOUNT}/cost/focus", "/api/accounts/demo/cost/focus", READERS, kind="text/csv; charset=utf-8"
    ),
    "list_budgets": Route(f"{_ACCOUNT}/budgets", "/api/accounts/demo/budgets", READERS),
    "get_budget": Route(f"{_ACCOUNT}/budgets/{{budget}}", "/api/accounts/demo/budgets/none", READERS, 404),
    "put_budget": Route(
        f"{_ACCOUNT}/budgets/{{budget}}",
        "/api/accounts/demo/budgets/none",
        OPERATORS,
        methods=("PUT",),
        body='{"amount": 5}',
    ),
    "delete_budget": Route(
        f"{_ACCOUNT}/budgets/{{budget}}", "/api/accounts/demo/budgets/none", OPERATORS, 204, methods=("DELETE",)
    ),
    "list_prices": Route(f"{_ACCOUNT}/prices", "/api/accounts/demo/prices", READERS),
    "list_retirements": Route("api/retirements", "/api/retirements", READERS),
    "list_conditions": Route("api/conditions", "/api/conditions", READERS),
    "get_pool_queue": Route(f"{_POOL}/queue", "/api/accounts/demo/pools/none/queue", READERS, 404),
    "get_pool_cost": Route(f"{_POOL}/cost", "/api/accounts/demo/pools/none/cost", READERS, 404),
    "get_pool_startup": Route(f"{_POOL}/startup", "/api/accounts/demo/pools/none/startup", READERS, 404),
    "get_pool_agent": Route(f"{_POOL}/agent", "/api/accounts/demo/pools/none/agent", READERS, 404),
    "list_agent_nodes": Route(f"{_POOL}/agent/nodes", "/api/accounts/demo/pools/none/agent/nodes", READERS, 404),
    "get_node_states": Route(f"{_POOL}/nodestates", "/api/accounts/demo/pools/none/nodestates", READERS, 404),
    "list_node_files": Route(
        f"{_POOL}/nodes/{{node}}/files", "/api/accounts/demo/pools/none/nodes/n!/files", READERS, 404
    ),
    "get_node_file": Route(
        f"{_POOL}/nodes/{{node}}/files/{{*path}}", "/api/accounts/demo/pools/none/nodes/n!/files/a/b", READERS, 404
    ),
    "get_node": Route(f"{_POOL}/nodes/{{node}}", "/api/accounts/demo/pools/none/nodes/none", READERS, 404),
    "get_node_telemetry": Route(
        f"{_POOL}/nodes/{{node}}/telemetry", "/api/accounts/demo/pools/none/nodes/none/telemetry", READERS, 404
    ),
    "get_pool_telemetry": Route(f"{_POOL}/telemetry", "/api/accounts/demo/pools/none/telemetry", READERS, 404),
    "get_node_values": Route(
        f"{_POOL}/telemetry/nodes", "/api/accounts/demo/pools/none/telemetry/nodes?name=system.uptime", READERS, 404
    ),
    "list_pool_metrics": Route(
        f"{_POOL}/telemetry/metrics", "/api/accounts/demo/pools/none/telemetry/metrics", READERS, 404
    ),
    "get_account_telemetry": Route(f"{_ACCOUNT}/telemetry", "/api/accounts/demo/telemetry", READERS),
    "get_task_telemetry": Route(
        f"{_JOB}/tasks/{{task}}/telemetry", "/api/accounts/demo/jobs/none/tasks/none/telemetry", READERS, 404
    ),
    "list_events": Route(f"{_ACCOUNT}/events", "/api/accounts/demo/events", READERS),
    "get_ingestion": Route(f"{_ACCOUNT}/ingestion", "/api/accounts/demo/ingestion", READERS),
    "list_rejects": Route(f"{_ACCOUNT}/rejects", "/api/accounts/demo/rejects", READERS),
    "request_poll": Route(
        f"{_ACCOUNT}/poll", "/api/accounts/demo/poll", OPERATORS, 202, methods=("POST",), body='{"all": true}'
    ),
    "get_poll": Route(f"{_ACCOUNT}/polls/{{poll}}", "/api/accounts/demo/polls/none", READERS, 404),
    "get_health": Route("api/health", "/api/health", ANYBODY),
    "get_metrics": Route("api/metrics", "/api/metrics", READERS, kind="text/plain; version=0.0.4; charset=utf-8"),
    "get_openapi": Route("api/openapi.json", "/api/openapi.json", READERS),
    "get_docs": Route("api/docs", "/api/docs", READERS, kind="text/html; charset=utf-8"),
    "dashboard": Route("{*path}", "/", ANYBODY, kind="text/html; charset=utf-8"),
}
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000",
}
MADE = {"x-ms-request-id": "*", "etag": "*", "location": "*", "retry-after": "*", "batchscope-as-of": "*"}
"""Headers whose values differ in each answer."""
VARIES = {"vary": "Accept-Encoding"}
DASHBOARD_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:;"
    " object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)


_MISSING = {
    "{node}/files": "NodeNotFound",
    "/polls/": "PollNotFound",
    "/pools/": "PoolNotFound",
    "/jobs/": "JobNotFound",
    "/jobschedules/": "ScheduleNotFound",
    "/budgets/": "BudgetNotFound",
}


def expected(name: str, route: Route, caller: str) -> tuple[int, dict[str, str]]:
    """Returns status and headers of an answer."""
    if caller not in route.who:
        code, status = ("Unauthenticated", 401) if caller in {"stranger", "forger"} else ("Forbidden", 403)
        return status, refusal(code)
    if route.status == 404:
        return 404, refusal(next(code for part, code in _MISSING.items() if part in route.route))
    headers = {**ALWAYS, "content-type": route.kind, "cache-control": "no-cache"}
    if name == "dashboard":
        return 200, {
            **headers,
            "content-security-policy": DASHBOARD_POLICY,
            "etag": "*",
            **VARIES,
            "x-ms-request-id": "*",
        }
    headers["x-ms-request-id"] = "*"
    if name == "get_docs":
        headers["content-security-policy"] = "default-src 'none'; style-src 'sha256-…'; base-uri 'none';"
        headers["content-security-policy"] += " frame-ancestors 'none'"
    if route.status == 202:
        headers |= {"location": "*", "retry-after": "*"}
    return route.status, {**headers, **({"etag": "*", **VARIES} if "GET" in route.methods else {})}


def refusal(code: str) -> dict[str, str]:
    return {
        **ALWAYS,
        "content-type": JSON,
        "cache-control": "no-store",
        "x-ms-error-code": code,
        "x-ms-request-id": "*",
    }


def shown(said: Said) -> tuple[int, dict[str, str]]:
    headers = {name: MADE.get(name, value) for name, value in said.headers.items()}
    if policy := headers.get("content-security-policy"):
        headers["content-security-policy"] = re.sub(r"'sha256-[\w+/=]{44}'", "'sha256-…'", policy)
    return said.status, headers


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_app(tmp_path_factory.mktemp("deployed"))


@pytest.fixture(scope="module")
def settings(azurite: StorageAddresses) -> dict[str, str]:
    return {
        "BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com",
        "AzureWebJobsStorage": azurite.connection_string,
        "TABLE_PREFIX": f"a{secrets.token_hex(6)}",
    }


@pytest.fixture(scope="module")
def app(copied: Path, settings: Mapping[str, str]) -> Iterator[SeparateApp]:
    with SeparateApp(copied, {**settings, **HOSTED}) as running:
        yield running


def get(app: SeparateApp, path: str, caller: str = "stranger") -> Said:
    (said,) = app.ask([Ask("GET", SITE + path, CALLERS[caller])])
    return said


def test_every_function_is_known_here_with_its_route_and_methods(app: SeparateApp) -> None:
    known = {name: {"route": route.route, "methods": list(route.methods)} for name, route in ROUTES.items()}
    known["dashboard"]["methods"] = []  # all methods: it explains the error for those that no function accepts
    assert app.functions == known


@pytest.mark.parametrize("name", ROUTES)
def test_each_caller_gets_the_expected_answer(app: SeparateApp, name: str) -> None:
    route = ROUTES[name]
    cases = [(method, caller) for method in route.methods for caller in CALLERS]
    said = app.ask([Ask(method, SITE + route.path, CALLERS[caller], route.body) for method, caller in cases])
    found = {case: shown(one) for case, one in zip(cases, said, strict=True)}
    assert found == {(method, caller): expected(name, route, caller) for method, caller in cases}


def test_other_methods_get_a_405_with_the_allowed_ones(app: SeparateApp) -> None:
    taken: dict[str, set[str]] = {}
    for route in ROUTES.values():
        taken.setdefault(route.path, set()).update(route.methods)
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY")
    cases = [(path, method) for path in sorted(taken) for method in methods if method not in taken[path]]
    said = app.ask([Ask(method, SITE + path, CALLERS["stranger"]) for path, method in cases])
    for (path, method), one in zip(cases, said, strict=True):
        assert shown(one) == (405, {**refusal("MethodNotAllowed"), "allow": one.headers["allow"]}), (path, method)
        assert set(one.headers["allow"].split(", ")) == taken[path], (path, method)
        error = json.loads(one.text)["error"]
        assert error["code"] == "MethodNotAllowed"
        assert method in error["message"]


def test_any_method_on_an_unknown_route_gets_a_404(app: SeparateApp) -> None:
    paths = ("/api", "/api/", "/api/nothing", "/API/accounts/demo/nothing", "/api/accounts/demo/jobs/a/b/c")
    asked = [Ask(method, SITE + path, {}) for path in paths for method in ("GET", "POST", "DELETE")]
    for one, said in zip(asked, app.ask(asked), strict=True):
        assert shown(said) == (404, refusal("RouteNotFound")), one
    (doubled,) = app.ask([Ask("GET", f"{SITE}/api//accounts", {})])  # no route, though one slash less would be
    assert shown(doubled) == (404, refusal("RouteNotFound"))
    assert [said.status for said in app.ask([Ask("DELETE", f"{SITE}/API/Accounts/demo/", {})])] == [405]
    assert [said.status for said in app.ask([Ask("POST", f"{SITE}/any/page", {})])] == [405]


def test_errors_of_every_kind_bear_the_headers_too(app: SeparateApp) -> None:
    cases = {
        "/api/accounts/none": (404, "AccountNotFound"),
        "/api/accounts?colour=red": (400, "InvalidParameter"),
        "/api/accounts/demo/jobs?maxpagesize=1001": (400, "InvalidParameter"),
        "/api/accounts/demo/jobs/none/tasks?maxpagesize=1001": (400, "InvalidParameter"),
        "/api/nothing/here": (404, "RouteNotFound"),
    }
    for path, (status, code) in cases.items():
        wanted = refusal(code)
        if code == "RouteNotFound":
            wanted.setdefault("x-ms-request-id", "*")
        assert shown(get(app, path, "reader")) == (status, wanted), path


def test_files_of_the_page_bear_the_headers_and_no_others_are_served(app: SeparateApp, copied: Path) -> None:
    script = get(app, "/assets/index.js")
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert ALWAYS.items() <= script.headers.items()
    secrets_ = ("secret.txt", "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "assets/../../secret.txt")
    for name in (*secrets_, "..%5csecret.txt", "local.settings.json", "../../local.settings.json", "function_app.py"):
        assert get(app, f"/{name}").text == PAGE, name
    for whole in (copied / "local.settings.json", copied / "web/secret.txt"):
        assert SECRET not in get(app, str(whole)).text
        assert SECRET not in get(app, f"/{str(whole).replace('/', '%2f')}").text


def test_answers_over_plain_http_do_not_ask_for_https(app: SeparateApp) -> None:
    for path in ("/api/health", "/api/accounts", "/", "/api/none"):
        (said,) = app.ask([Ask("GET", f"http://batchscope.example{path}", {})])
        assert "strict-transport-security" not in said.headers


def test_the_301st_change_within_a_minute_waits(copied: Path, settings: Mapping[str, str]) -> None:
    change = Ask("PUT", f"{SITE}/api/accounts/demo/monitoring", CALLERS["operator"], "{}")
    poll = Ask("POST", f"{SITE}/api/accounts/demo/poll", CALLERS["operator"], "{}")
    refused = Ask("POST", f"{SITE}/api/accounts/demo/poll", CALLERS["reader"], "{}")
    with SeparateApp(copied, {**settings, **HOSTED}) as app:
        assert {said.status for said in app.ask([refused] * 301)} == {403}
        assert {said.status for said in app.ask([change, poll] * 150)} == {400}
        for late in app.ask([poll, change]):
            status, headers = shown(late)
            assert (status, headers) == (429, {**refusal("TooManyRequests"), "retry-after": "*"})
            assert 1 <= int(late.headers["retry-after"]) <= 61
        assert get(app, "/api/accounts", "reader").status == 200


@pytest.mark.parametrize(
    "hosting",
    [
        {},
        {"AZURE_FUNCTIONS_ENVIRONMENT": "Production"},
        {"WEBSITE_SITE_NAME": "batchscope"},
        {"WEBSITE_SITE_NAME": "batchscope", "AZURE_FUNCTIONS_ENVIRONMENT": "Development"},
        {"WEBSITE_SITE_NAME": "batchscope", "WEBSITE_AUTH_ENABLED": "False"},
    ],
    ids=lambda hosting: ", ".join(f"{name}={value}" for name, value in hosting.items()) or "nothing said",
)
def test_without_authentication_in_front_nobody_gets_in(
    copied: Path, settings: Mapping[str, str], hosting: Mapping[str, str]
) -> None:
    with SeparateApp(copied, {**settings, **hosting}) as app:
        asked = [
            Ask(route.methods[0], SITE + route.path, CALLERS[caller], route.body)
            for route in ROUTES.values()
            for caller in CALLERS
            if route.who != ANYBODY
        ]
        assert {said.status for said in app.ask(asked)} == {401}
        assert get(app, "/api/health").status == 200


def test_only_readers_see_setting_problems(copied: Path, settings: Mapping[str, str]) -> None:
    with SeparateApp(copied, {**settings, **HOSTED, "POLL_SECONDS": "soon"}) as app:
        for caller in CALLERS:
            said = get(app, "/api/health", caller)
            health = json.loads(said.text)
            assert (said.status, health["status"]) == (503, "unhealthy")
            wrong = ["POLL_SECONDS: 'soon' is not a number from 1 to 86400"]
            assert health["problems"] == (wrong if caller in READERS else []), caller
            assert shown(said)[1] == {
                **ALWAYS,
                "content-type": JSON,
                "cache-control": "no-cache",
                "x-ms-request-id": "*",
            }
        assert shown(get(app, "/api/accounts", "reader")) == (503, refusal("NotConfigured"))
