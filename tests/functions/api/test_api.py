"""Conventions of the API: filters, paging, ETags, errors, health, metrics, OpenAPI, the page."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.batch.models import BatchJobDisableOptions

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import ROOT, Answer, World

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(stage)


async def stage(world: World) -> None:
    await add_pool(world.batch, nodes=3)
    for job in ("alpha", "beta", "gamma"):
        await add_job(world.batch, job)
    await add_tasks(world.batch, 12, job="alpha", command="sleep 2; exit 3")
    await add_tasks(world.batch, 12, job="alpha", command="sleep 2", prefix="other")
    world.advance(200)
    await world.poll()


async def test_jobs_are_filtered_and_paged(staged: World) -> None:
    page = await staged.get("accounts/demo/jobs?maxpagesize=2")
    assert [job["id"] for job in page.body["value"]] == ["alpha", "beta"]
    rest = await staged.get(page.body["nextLink"].split("/api/", 1)[1])
    assert [job["id"] for job in rest.body["value"]] == ["gamma"]
    assert "nextLink" not in rest.body
    for query, count in (("prefix=BE", 1), ("state=completed", 0), ("poolId=POOL", 3), ("schedule=nightly", 0)):
        assert len((await staged.get(f"accounts/demo/jobs?{query}")).body["value"]) == count


async def test_tasks_are_filtered_and_paged_from_the_cache(staged: World) -> None:
    calls = staged.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"]
    failed = await staged.get("accounts/demo/jobs/ALPHA/tasks?exitCode=3&maxpagesize=5")
    assert len(failed.body["value"]) == 5
    assert {task["failureCode"] for task in failed.body["value"]} == {"FailureExitCode"}
    rest = await staged.get(failed.body["nextLink"].split("/api/", 1)[1].replace("maxpagesize=5", "maxpagesize=50"))
    assert len(rest.body["value"]) == 7
    node = failed.body["value"][0]["nodeId"]
    for query, count in ((f"nodeId={node}", None), ("result=success", 12), ("prefix=other", 12), ("state=running", 0)):
        found = (await staged.get(f"accounts/demo/jobs/alpha/tasks?{query}")).body["value"]
        assert found if count is None else len(found) == count
    assert staged.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == calls


async def test_lists_are_tables_where_that_is_asked_for(staged: World) -> None:
    jobs = await staged.get("accounts/demo/jobs?format=csv&maxpagesize=2")
    assert jobs.headers["content-type"] == "text/csv; charset=utf-8"
    assert jobs.body.splitlines()[0].startswith("id,account,state,")
    assert len(jobs.body.splitlines()) == 3
    following = jobs.headers["link"].removeprefix("<").split(">")[0].split("/api/")[1]
    assert "format=csv" in following
    assert len((await staged.get(following)).body.splitlines()) == 2
    tasks = await staged.get("accounts/demo/jobs/alpha/tasks?format=csv&maxpagesize=5")
    assert len(tasks.body.splitlines()) == 6


async def test_an_unchanged_answer_is_a_304(staged: World) -> None:
    first = await staged.get("accounts/demo/jobs/alpha")
    again = await staged.get("accounts/demo/jobs/alpha", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, "")
    staged.advance(60)
    await staged.poll()
    assert (await staged.get("accounts/demo/jobs/alpha", If_None_Match=first.headers["etag"])).status == 200


IDLE = (
    "accounts",
    "accounts/demo",
    "metrics",
    "accounts/demo/jobs/beta/explanation",
    "accounts/demo/jobs/beta/tasks",
    "accounts/demo/jobs/beta/tasks?format=csv",
    "accounts/demo/pools/pool/nodes",
    "accounts/demo/pools/pool/nodes?format=csv",
)


async def test_an_idle_client_gets_304s_though_polls_go_on_and_200_when_something_happened(staged: World) -> None:
    await add_tasks(staged.batch, 5, job="beta", command="sleep 100000")
    for _ in range(3):  # until nothing changes: counts agree, and slots are taken
        staged.advance(60)
        await staged.poll()
    first = {path: await staged.get(path) for path in IDLE}
    for _ in range(3):
        staged.advance(60)
        await staged.poll()
        again = {path: await staged.get(path, If_None_Match=first[path].headers["etag"]) for path in IDLE}
        assert {path: answer.status for path, answer in again.items()} == dict.fromkeys(IDLE, 304)
    for path in IDLE:
        check_as_of(path, first[path], again[path])
    await staged.batch.begin_disable_job("beta", BatchJobDisableOptions(disable_tasks="requeue"))
    staged.advance(60)
    await staged.poll()
    for path in IDLE:
        assert (await staged.get(path, If_None_Match=first[path].headers["etag"])).status == 200, path


def check_as_of(path: str, first: Answer, again: Answer) -> None:
    """Asserts that the time of an unchanged answer goes on, and is that of its oldest part."""
    assert first.headers.get("batchscope-as-of", "") <= again.headers.get("batchscope-as-of", ""), path
    if path.endswith("csv"):
        assert first.headers["batchscope-as-of"] == json.loads(first.headers["batchscope-verdict"])["asOf"]
        assert again.headers["batchscope-as-of"] == json.loads(again.headers["batchscope-verdict"])["asOf"]
        assert first.headers["batchscope-as-of"] < again.headers["batchscope-as-of"]
    elif path.startswith("accounts"):
        assert first.headers["batchscope-as-of"] == min(re.findall(r'"asOf": "([^"]*)"', json.dumps(first.body)))


@pytest.mark.parametrize(
    ("path", "status", "target", "words"),
    [
        ("accounts/nobody", 404, "account", "There is no account 'nobody'."),
        ("accounts/demo/jobs/nope", 404, "job", "There is no job 'nope' in the account 'demo'."),
        ("accounts/demo/jobs/nope/tasks", 404, "job", "nope"),
        ("accounts/demo/polls/nope", 404, "poll", "nope"),
        ("accounts/demo/jobs?maxpagesize=0", 400, "maxpagesize", "a whole number from 1 to 1000"),
        ("accounts/demo/jobs?maxpagesize=1e3", 400, "maxpagesize", "can't be '1e3'"),
        ("accounts/demo/jobs/nope/tasks?exitCode=1.0", 400, "exitCode", "a whole number"),
        ("accounts/demo/jobs?maxpagesize=lots", 400, "maxpagesize", "can't be 'lots'"),
        (f"accounts/demo/jobs?maxpagesize={'lots' * 500}", 400, "maxpagesize", f"can't be '{'lots' * 25}…'; it is"),
        ("accounts/demo/jobs?state=sleeping", 400, "state", "active"),
        ("accounts/demo/jobs?state=null", 400, "state", "active"),
        ("accounts/demo/jobs/nope/tasks?exitCode=null", 400, "exitCode", "a whole number"),
        ("accounts/demo/jobs?colour=red", 400, "colour", "Known are"),
        ("accounts?colour=red", 400, "colour", "takes none"),
        ("nothing/here", 404, None, "no such route"),
    ],
)
async def test_a_bad_request_gets_a_specific_error(
    world: World, path: str, status: int, target: str | None, words: str
) -> None:
    answer = await world.get(path)
    assert answer.status == status
    assert answer.body["error"]["target"] == target
    assert words in answer.body["error"]["message"]
    assert answer.headers["x-ms-error-code"] == answer.body["error"]["code"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"not json", "isn't JSON"),
        (b"{}", "which jobs"),
        (b'{"jobs": [], "all": false}', "which jobs"),
        (b'{"jobs": ["a"], "all": true}', "which jobs"),
        (b'{"jobs": "a"}', "a list of at most 1000 texts"),
        (b'{"jobs": null, "all": false}', "a list of at most 1000 texts"),
        (b'{"jobs": [' + b", ".join([b'"a"'] * 1001) + b"]}", "a list of at most 1000 texts"),
        (b'{"job": ["a"]}', "'job'"),
        (b"[]", "object"),
    ],
)
async def test_a_poll_with_a_bad_body_gets_a_specific_error(world: World, body: bytes, words: str) -> None:
    answer = await world.post("accounts/demo/poll?wait=true", body)
    assert answer.status == 400
    assert words in answer.body["error"]["message"]


async def test_a_poll_on_demand_goes_through_the_queue_and_reports_its_outcome(world: World) -> None:
    await add_job(world.batch)
    accepted = await world.post("accounts/demo/poll", b'{"jobs": ["job", "nope"]}')
    assert (accepted.status, accepted.body["status"]) == (202, "queued")
    where = accepted.headers["location"].split("/api/", 1)[1]
    assert (await world.get(where)).body["status"] == "queued"
    message = json.dumps({"account": "demo", "poll": accepted.body["id"]})
    await world.app.deliver("poll_requested", message)
    await world.app.deliver("poll_requested", message)
    done = (await world.get(where)).body
    assert done["status"] == "failed"
    assert done["jobs"] == {"succeeded": 1, "failed": 1}
    assert done["reasons"] == [{"job": "nope", "message": "There is no job 'nope'."}]


async def test_health_shows_the_age_of_the_last_poll(world: World) -> None:
    await world.app.fire("tick")  # reads blobs, too, as health requires
    await world.poll()
    assert (await world.get("health")).body == {"status": "healthy", "lastPollAgeSeconds": 0.0, "problems": []}
    world.advance(3600)
    late = await world.get("health")
    assert (late.status, late.body["status"], late.body["lastPollAgeSeconds"]) == (200, "degraded", 3600.0)
    assert late.body["problems"][0].startswith("demo: last polled at")


async def test_a_poll_that_failed_does_not_make_health_look_young(world: World) -> None:
    await world.poll()
    world.advance(600)
    world.emulator.faults.all.append(Fault(status=403))
    assert (await world.poll()).body["status"] == "failed"
    health = (await world.get("health")).body
    assert (health["status"], health["lastPollAgeSeconds"]) == ("degraded", 600.0)
    assert (await world.get("accounts/demo")).body["lastRound"]["outcome"] == "failed"


async def test_metrics_are_prometheus_text_from_storage(staged: World) -> None:
    answer = await staged.get("metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.splitlines()
    assert 'azbatch_job_tasks{account="demo",job="alpha",state="completed"} 24.0' in lines
    assert 'azbatch_job_completed_tasks{account="demo",job="alpha",result="failure"} 12.0' in lines
    assert 'azbatch_jobs{account="demo",state="active"} 3.0' in lines
    assert 'azbatch_collector_up{account="demo"} 1.0' in lines


async def test_openapi_describes_routes_and_parameters(world: World) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: PLC0415 - seconds of imports, in each worker

    document = (await world.get("openapi.json")).body
    OpenAPIV31SpecValidator(document).validate()
    listing = document["paths"]["/api/accounts/{account}/jobs"]["get"]
    names = {parameter["name"] for parameter in listing["parameters"]}
    assert {"account", "state", "poolId", "maxpagesize", "continuation"} <= names
    assert listing["security"] == [{"entra": []}]
    assert "post" in document["paths"]["/api/accounts/{account}/poll"]
    assert document["paths"]["/api/health"]["get"]["security"] == []
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert not any("default" in operation["responses"] for operation in operations)
    poll = document["paths"]["/api/accounts/{account}/poll"]["post"]
    assert " ".join(sorted(poll["responses"])) == "200 202 400 401 403 404 409 413 414 429 500 502 503"
    assert " ".join(sorted(listing["responses"])) == "200 304 400 401 403 404 406 414 500 502 503"


async def test_the_poll_schema_accepts_just_the_valid_bodies(world: World) -> None:
    from openapi_schema_validator import OAS31Validator  # noqa: PLC0415 - seconds of imports, in each worker

    document = (await world.get("openapi.json")).body
    body = document["paths"]["/api/accounts/{account}/poll"]["post"]["requestBody"]["content"]["application/json"]
    validator = OAS31Validator({**body["schema"], "components": document["components"]})
    taken = [{"jobs": ["a"]}, {"all": True}, {"jobs": ["a"], "all": False}, {"jobs": [], "all": True}]
    refused = [{}, {"all": False}, {"jobs": None, "all": False}, {"jobs": []}, {"jobs": ["a"], "all": True}]
    for value, is_taken in [*((value, True) for value in taken), *((value, False) for value in refused)]:
        assert validator.is_valid(value) == is_taken, value
        status = (await world.post("accounts/demo/poll", json.dumps(value).encode())).status
        assert status == (202 if is_taken else 400), value


async def test_the_readme_names_every_route_and_every_page_of_the_documentation(world: World) -> None:
    document = (await world.get("openapi.json")).body
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in document["paths"]:
        assert re.sub(r"{(\w)\w+}", r"{\1}", path) in readme, path
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in readme, page.name


async def test_every_http_function_but_the_page_is_in_the_document(world: World) -> None:
    document = (await world.get("openapi.json")).body
    described = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
    functions = {name for name, function in world.app.functions.items() if function.trigger.kind == "httpTrigger"}
    assert functions - described == {"dashboard"}


async def test_the_api_is_described_on_a_page_that_needs_nothing_from_elsewhere(world: World) -> None:
    answer = await world.get("docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "GET</span> /api/accounts/{account}/jobs" in answer.body
    assert not re.search(r"https?:|//", answer.body)
    assert "<script" not in answer.body


async def test_a_body_past_a_megabyte_is_refused(world: World) -> None:
    answer = await world.post("accounts/demo/poll", b'{"jobs": ["' + b"a" * 1024 * 1024 + b'"]}')
    assert (answer.status, answer.body["error"]["code"]) == (413, "BodyTooLarge")


@pytest.mark.parametrize("path", ["/some/place", "/jobs", "/index.htm", "/assets", "/favicon.svg/", "/index.html.gz"])
async def test_the_page_comes_with_a_policy_and_as_a_404_with_paths_that_lead_nowhere(
    world: World, dashboard: Path, path: str
) -> None:
    page, named, other = [await world.app.request("GET", one) for one in ("/?view=pools", "/index.html", path)]
    if not (dashboard / "index.html").exists():
        assert int(page.status) == int(other.status) == 503
        return
    assert [int(reply.status) for reply in (page, named, other)] == [200, 200, 404]
    assert page.body == named.body == other.body
    headers = {name.lower(): value for name, value in dict(other.headers).items()}
    assert headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in headers["content-security-policy"]
    assert (headers["cache-control"], headers.get("etag")) == ("no-store", None)
    tag = next(value for name, value in dict(page.headers).items() if name.lower() == "etag")
    assert int((await world.app.request("GET", path, headers={"if-none-match": tag})).status) == 404
    for file in (dashboard / "assets").iterdir():
        if file.suffix not in {".br", ".gz"}:
            assert int((await world.app.request("GET", f"/assets/{file.name}")).status) == 200


async def test_an_app_without_settings_loads_and_names_the_missing_ones(tmp_path: Path) -> None:
    status, body = await health_of_an_app({"AZURE_FUNCTIONS_ENVIRONMENT": "Development"}, tmp_path)
    assert status == 503
    assert len(body["problems"]) == 2
    assert body["problems"][0].startswith("BATCH_ACCOUNTS is missing")
    assert body["problems"][1].startswith("AzureWebJobsStorage is missing")


async def test_an_app_with_an_identity_leaves_a_connection_string_beside_it_alone(
    tmp_path: Path, azurite: StorageAddresses
) -> None:
    environment = {
        "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
        "BATCH_ACCOUNTS": "demo=http://127.0.0.1:1",
        "BATCH_ACCOUNT_KEYS": "demo=c2VjcmV0",
        "AzureWebJobsStorage": azurite.connection_string,
    }
    status, body = await health_of_an_app(environment, tmp_path, times=15)
    assert (status, body["problems"]) == (200, ["demo: not polled yet."])
    identity = {"AzureWebJobsStorage__tableServiceUri": "https://127.0.0.1:1", "AZURE_TOKEN_CREDENTIALS": "prod"}
    status, body = await health_of_an_app(environment | identity, tmp_path)
    assert (status, body["status"]) == (503, "unhealthy"), "the tables of the connection string were used"
    warnings = [problem for problem in body["problems"] if problem.startswith("AzureWebJobsStorage:")]
    assert len(warnings) == 1
    assert "'devstoreaccount1'" in warnings[0]


async def health_of_an_app(environment: dict[str, str], folder: Path, times: int = 1) -> tuple[int, Any]:
    """Returns status and body of `health`, from an app in a separate process with these settings."""
    return await answer_of_an_app(environment, folder, "health", times)


async def answer_of_an_app(environment: dict[str, str], folder: Path, path: str, times: int = 1) -> tuple[int, Any]:
    """Returns status and body of a GET under `/api/`, from an app in a separate process with these settings.

    It is asked at most so many times until the status is 200: a busy machine is slow to open its first connections.
    """
    script = folder / "get.py"
    script.write_text(
        "import asyncio, os, pathlib, sys\n"
        "from local.functions_host.in_process import InProcessApp\n"
        "async def main():\n"
        "    async with InProcessApp(pathlib.Path(sys.argv[1]), os.environ) as app:\n"
        "        for _ in range(int(sys.argv[3])):\n"
        "            reply = await app.request('GET', '/api/' + sys.argv[2])\n"
        "            if reply.status == 200: break\n"
        "        print(int(reply.status), reply.body.decode())\n"
        "asyncio.run(main())\n"
    )
    environment = {"PYTHONPATH": str(ROOT), **environment}
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(script), str(ROOT), path, str(times), env=environment, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await asyncio.wait_for(program.communicate(), 60)
    status, body = printed.decode().strip().split(" ", 1)
    return int(status), json.loads(body)
