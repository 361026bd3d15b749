import json
import socket
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.app.errors import ConfigurationError
from local.functions_host.app.functions import Binding, Function
from local.functions_host.app.settings import HostOptions
from local.functions_host.http.keys import Keys
from local.functions_host.start_checks import check_functions
from local.functions_host.timers.clock import EmulatorClock
from tests.functions_host.running_host import StartHost

STORAGE = {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}
NO_PREFIX = HostOptions(route_prefix="")


def function(name: str, kind: str, *others: Binding, **options: Any) -> Function:
    return Function(name, name, Binding(kind, "trigger", "IN", options), others)


def http(name: str, route: str, *methods: str) -> Function:
    return function(name, "httpTrigger", route=route, methods=list(methods))


def problems(
    *functions: Function, options: HostOptions = NO_PREFIX, environment: dict[str, str] | None = None
) -> list[str]:
    try:
        check_functions({one.name: one for one in functions}, options, STORAGE if environment is None else environment)
    except ConfigurationError as refusal:
        return str(refusal).splitlines()
    return []


def test_valid_functions_are_not_refused() -> None:
    assert not problems(
        http("page", "{*path}", "GET"),
        http("read", "api/jobs/{j}", "GET"),
        http("write", "api/jobs/{job}", "PUT"),
        function("tick", "timerTrigger", schedule="%EVERY%"),
        function("work", "queueTrigger", queueName="work-items"),
        function("files", "blobTrigger", path="%WHERE%/{name}"),
        environment=STORAGE | {"EVERY": "0 * * * * *", "WHERE": "incoming"},
    )


def test_an_app_without_functions_is_refused() -> None:
    assert problems() == ["The app has no functions."]


@pytest.mark.parametrize("prefix", ["", "api"])
def test_an_empty_route_is_refused(prefix: str) -> None:
    (problem,) = problems(http("page", ""), options=HostOptions(route_prefix=prefix))
    assert problem.startswith("Function 'page': an empty route doesn't work in Azure")


@pytest.mark.parametrize("route", ["admin/x", "Runtime", "runtime/webhooks/blobs"])
def test_a_route_that_azure_keeps_is_refused(route: str) -> None:
    assert problems(http("mine", route)) == [
        f"Function 'mine': the route '{route}' lies under admin or runtime, which Azure keeps for itself."
    ]


def test_a_route_with_an_unknown_constraint_is_refused() -> None:
    assert problems(http("mine", "x/{n:odd}")) == [
        "Function 'mine': the route 'x/{n:odd}' isn't valid: 'odd' isn't a route constraint."
    ]


def test_two_functions_for_the_same_requests_are_refused() -> None:
    assert problems(http("one", "jobs/{a}", "GET"), http("two", "Jobs/{b}", "get", "PUT")) == [
        "Functions 'one' and 'two' both serve GET of 'Jobs/{b}'."
    ]
    assert problems(http("any", "jobs"), http("get", "jobs", "GET")) == [
        "Functions 'any' and 'get' both serve GET of 'jobs'."
    ]


def test_a_schedule_that_is_none_is_refused() -> None:
    (problem,) = problems(function("tick", "timerTrigger", schedule="0 * *"))
    assert (
        problem
        == "Function 'tick': its schedule isn't valid: '0 * *' has 3 fields; NCRONTAB has 6 (or 5, without seconds)."
    )


def test_a_missing_setting_is_refused_by_name() -> None:
    assert problems(
        function("tick", "timerTrigger", schedule="%EVERY%"), function("work", "queueTrigger", queueName="%Q%")
    ) == [
        "Function 'tick': its schedule '%EVERY%' has no value: the setting %EVERY% doesn't exist.",
        "Function 'work': its queue '%Q%' has no name: the setting %Q% doesn't exist.",
    ]


def test_a_name_that_no_queue_may_have_is_refused() -> None:
    (problem,) = problems(function("work", "queueTrigger", queueName="Work_Items"))
    assert problem.startswith("Function 'work': 'Work_Items' isn't a queue's name")


def test_bindings_that_are_not_served_yet_are_refused() -> None:
    assert problems(
        function("files", "blobTrigger", path="incoming/{name"),
        function("named", "blobTrigger", path="incoming/logs/{name}", source="EventGrid"),
        function(
            "make", "httpTrigger", Binding("blob", "out", "OUT", {}), Binding("blob", "in", "IN", {}), route="make"
        ),
    ) == [
        (
            "Function 'files': the path 'incoming/{name' has a bracket without its other,"
            " or something else than a name in two."
        ),
        "Function 'named': the path 'incoming/logs/{name}' isn't served by this host; it knows container/{name} only.",
        "Function 'make': the output binding 'blob' isn't served by this host yet.",
        "Function 'make': the input binding 'blob' isn't served by this host yet.",
    ]


def test_triggers_without_storage_are_refused_but_http_alone_is_not() -> None:
    assert problems(function("tick", "timerTrigger", schedule="0 * * * * *"), environment={}) == [
        "Function 'tick': the setting AzureWebJobsStorage is missing: it says where the blob storage is."
    ]
    assert problems(function("work", "queueTrigger", queueName="work", connection="Other")) == [
        "Function 'work': the setting Other is missing: it says where the queue storage is."
    ]
    assert not problems(http("page", "{*path}"), environment={})


def test_an_address_that_is_not_here_is_refused(start_host: StartHost) -> None:
    host = start_host("--address", "192.0.2.1", ready=False)
    assert host.child.wait(15) == 1
    assert host.log.startswith("The host can't listen on 192.0.2.1, port 0")


def test_auth_without_keys_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="--auth needs LOCAL_FUNCTION_KEY"):
        Keys.from_environment({}, checked=True)


@pytest.mark.parametrize("url", ["http://elsewhere.example/_emulator/clock", "https://localhost/", "nonsense"])
def test_a_clock_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="on this machine"):
        EmulatorClock(url)


def app_folder(folder: Path, code: str) -> Path:
    folder.mkdir()
    (folder / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"http": {"routePrefix": ""}}}))
    (folder / "function_app.py").write_text(code)
    return folder


def refusal(start_host: StartHost, *arguments: str, app: Path) -> str:
    host = start_host(*arguments, app=app, ready=False)
    assert host.child.wait(15) == 1
    assert host.output == ""
    return host.log


def test_an_app_that_cannot_be_imported_is_refused_with_the_words_of_the_worker(
    start_host: StartHost, tmp_path: Path
) -> None:
    log = refusal(start_host, app=app_folder(tmp_path / "app", "import azure.functions\nimport no_such_thing\n"))
    first, *rest = log.splitlines()
    assert (
        first == f"The app in {tmp_path / 'app'} can't be loaded: ModuleNotFoundError: No module named 'no_such_thing'"
    )
    assert any("function_app.py" in line and "line 2" in line for line in rest)
    assert "host.worker" not in log


def test_a_folder_without_an_app_is_refused(start_host: StartHost, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "host.json").write_text("{}")
    assert refusal(start_host, app=tmp_path / "empty") == f"There is no function_app.py in {tmp_path / 'empty'}.\n"


def test_a_refusal_is_sentences_and_exit_code_1(start_host: StartHost, tmp_path: Path) -> None:
    code = (
        "import azure.functions as func\napp = func.FunctionApp()\n"
        "@app.route(route='')\ndef page(req: func.HttpRequest) -> str:\n    return ''\n"
        "@app.blob_trigger(arg_name='blob', path='Incoming/{name}', connection='AzureWebJobsStorage')\n"
        "def files(blob: func.InputStream) -> None: ...\n"
    )
    lines = refusal(start_host, app=app_folder(tmp_path / "app", code)).splitlines()
    assert lines[0].startswith("Function 'page': an empty route doesn't work in Azure")
    assert lines[1].startswith("Function 'files': 'Incoming' isn't a container's name")


def test_a_taken_port_is_one_sentence(start_host: StartHost) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        host = start_host("--port", str(port), ready=False)
        assert host.child.wait(15) == 1
    assert host.log.splitlines()[-1] == (
        f"Port {port} on 127.0.0.1 is taken; stop what uses it or give another --port."
    )
    assert "Traceback" not in host.log
