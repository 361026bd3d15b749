import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.functions_host.running_host import SAMPLE, RunningHost, StartHost, until


@pytest.fixture(scope="module")
def host(azurite: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder = tmp_path_factory.mktemp("host")
    settings = {
        "AzureWebJobsStorage": azurite.connection_string,
        "AzureFunctionsWebHost__hostid": "sample-http",
        "SAMPLE_QUEUE": "sample-http",
        "SAMPLE_RECORD": str(folder / "records"),
    }
    host = RunningHost.start(folder, SAMPLE, settings, "--port", "0").wait_ready()
    yield host
    host.stop()


def test_functions_are_listed_as_func_start_does(host: RunningHost) -> None:
    lines = host.output.splitlines()
    assert lines.index("Functions:") < lines.index(f"listening on {host.url}")
    assert f"        put_thing: [POST,PUT] {host.url}/thing" in lines
    assert f"        echo: {host.url}/echo/{{*rest}}" in lines
    assert "        tick: timerTrigger" in lines
    assert "        work: queueTrigger" in lines


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/items/special", "literal"),
        ("/items/7", "constrained 7"),
        ("/items/x", "plain x"),
        ("/items/a%20b", "plain a b"),
        ("/items/a%2Fb", "plain a%2Fb"),
        ("/items/x/y", "catch-all x/y"),
        ("/items", "catch-all None"),
        ("/hello", "hello nobody"),
        ("/HELLO/you", "hello you"),
        ("/thing", "got"),
    ],
)
def test_the_best_route_answers(host: RunningHost, path: str, text: str) -> None:
    answer = host.call("GET", path)
    assert (answer.status, answer.text) == (200, text)


def test_a_wrong_method_and_an_unknown_path_give_404_and_the_webhook_asks_for_a_key(host: RunningHost) -> None:
    assert host.call("DELETE", "/thing").status == 404
    assert host.call("GET", "/nowhere").status == 404
    assert host.call("GET", "/runtime/webhooks/blobs").status == 401


def test_a_request_line_or_header_that_is_too_long_is_refused_without_a_body_as_kestrel_does(host: RunningHost) -> None:
    assert host.call("GET", "/hello?x=" + "a" * 8_100).status == 200
    line = host.call("GET", "/hello?x=" + "a" * 8_192)
    assert (line.status, line.text) == (414, "")
    assert host.call("GET", "/hello", headers={"X-Long": "a" * 32_000}).status == 200
    header = host.call("GET", "/hello", headers={"X-Long": "a" * 33_000})
    assert (header.status, header.text) == (431, "")


def test_a_response_keeps_its_status_headers_and_cookies(host: RunningHost) -> None:
    answer = host.call("PUT", "/thing")
    headers = {name.lower(): value for name, value in answer.headers}
    assert (answer.status, answer.text, headers["x-thing"]) == (201, "put", "1")
    assert headers["set-cookie"] == "a=b; HttpOnly; Path=/"


def test_a_request_reaches_the_function_as_in_azure(host: RunningHost) -> None:
    answer = host.call("POST", "/echo/a/b?x=1&x=2&empty=&y=z", headers={"X-Upper": "V"}, body=b"hi")
    seen = answer.json()
    assert seen["method"] == "POST"
    assert seen["query"] == {"x": "1,2", "y": "z"}
    assert seen["route"] == {"rest": "a/b"}
    assert seen["headers"]["x-upper"] == "V"
    assert seen["body"] == "hi"
    assert seen["url"] == f"{host.url}/echo/a/b?x=1&x=2&empty=&y=z"


def test_a_large_answer_arrives_whole_and_its_connection_serves_the_next_request(host: RunningHost) -> None:
    parts, large = urlsplit(host.url), "x" * 2_000_000
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=15)) as connection:
        for method in ("POST", "HEAD", "POST"):
            connection.request(method, "/echo/large", body=large.encode())
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200
            assert int(answer.headers["Content-Length"]) > len(large)
            assert body == b"" if method == "HEAD" else json.loads(body)["body"] == large


def test_a_function_that_raises_gives_500_and_a_line_in_the_log(host: RunningHost) -> None:
    answer = host.call("GET", "/boom")
    assert (answer.status, answer.body) == (500, b"")
    assert "boom failed: Traceback" in host.log
    assert "RuntimeError: the sample went boom" in host.log


def test_a_function_that_runs_past_its_time_gives_500(host: RunningHost) -> None:
    assert host.call("GET", "/slow?seconds=9").status == 500
    assert "slow failed: it ran past functionTimeout (0:00:03)" in host.log


def test_admin_shows_the_functions_and_the_state(host: RunningHost) -> None:
    status = host.call("GET", "/admin/host/status").json()
    assert status == {"id": "sample-http", "state": "Running"}
    functions = {one["name"]: one for one in host.call("GET", "/admin/functions").json()}
    assert functions["tick"]["config"]["bindings"][0]["type"] == "timerTrigger"


def test_admin_refuses_bad_and_foreign_requests(host: RunningHost) -> None:
    assert host.call("POST", "/admin/functions/nothing").status == 404
    assert host.call("POST", "/admin/functions/hello").status == 400
    assert host.call("POST", "/admin/functions/tick", body=b"{").status == 400
    foreign = {"Origin": "http://elsewhere.example"}
    assert host.call("POST", "/admin/functions/tick", headers=foreign).status == 403
    assert host.call("GET", "/admin/functions", headers=foreign).status == 401


def test_admin_runs_a_timer_with_its_retries(host: RunningHost) -> None:
    body = json.dumps({"input": ""}).encode()
    assert host.call("POST", "/admin/functions/stubborn", body=body).status == 202
    until(lambda: len(host.of("stubborn")) == 3, 6)
    assert [(one["retry"], one["most"]) for one in host.of("stubborn")] == [(0, 2), (1, 2), (2, 2)]


def test_keys_grant_access_by_their_level(start_host: StartHost) -> None:
    host = start_host("--auth", LOCAL_FUNCTION_KEY="fk", LOCAL_MASTER_KEY="mk")

    def status(path: str, key: str = "") -> int:
        return host.call("GET", path, headers={"x-functions-key": key} if key else {}).status

    assert [status("/hello"), status("/locked"), status("/locked", "no")] == [200, 401, 401]
    assert [status("/locked", "fk"), status("/locked", "mk"), status("/locked?code=fk")] == [200, 200, 200]
    assert [status("/vault", "fk"), status("/vault", "mk")] == [401, 200]
    assert [status("/admin/functions", key) for key in ("", "fk", "mk")] == [401, 401, 200]


def is_refused(host: RunningHost) -> bool:
    """True when the host's port takes no connection; asks for nothing, as one taken just before gets no answer."""
    address = urlsplit(host.url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=1).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_stop_lets_a_running_request_finish_and_takes_no_new_one(start_host: StartHost) -> None:
    host = start_host()
    answers: list[int] = []
    request = threading.Thread(target=lambda: answers.append(host.call("GET", "/slow?seconds=2.5").status))
    request.start()
    until(lambda: host.of("slow begins"))
    host.child.send_signal(signal.SIGTERM)
    until(lambda: is_refused(host))
    assert not host.of("slow ends")
    request.join()
    assert answers == [200]
    assert host.child.wait(10) == 0


def test_a_stop_during_calls_takes_under_five_seconds(start_host: StartHost) -> None:
    host = start_host(AzureFunctionsJobHost__functionTimeout="-1")
    calls = [threading.Thread(target=_ignore, args=(host, path)) for path in ("/slow?seconds=30", "/stuck?seconds=30")]
    for call in calls:
        call.start()
    until(lambda: host.of("slow begins"))
    code, seconds = host.stop()
    assert code == 0
    assert 3 < seconds < 5
    for call in calls:
        call.join()


def _ignore(host: RunningHost, path: str) -> None:
    try:
        host.call("GET", path)
    except (OSError, HTTPException):
        return


def test_interrupting_an_idle_host_ends_it_at_once(start_host: StartHost) -> None:
    host = start_host()
    host.child.send_signal(signal.SIGINT)
    code, seconds = host.stop()
    assert code == 0
    assert seconds < 2


def test_local_settings_reach_the_app(start_host: StartHost, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "host.json").write_text(json.dumps({"version": "2.0"}))
    (app / "local.settings.json").write_text(json.dumps({"Values": {"GREETING": "hi there"}}))
    (app / "function_app.py").write_text(
        "import os\nimport azure.functions as func\napp = func.FunctionApp()\n"
        "@app.route(route='greet')\ndef greet(req: func.HttpRequest) -> str:\n    return os.environ['GREETING']\n",
    )
    host = start_host(app=app)
    assert host.call("GET", "/api/greet").text == "hi there"
    assert f"        greet: {host.url}/api/greet" in host.output.splitlines()
