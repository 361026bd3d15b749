"""The package reaches the deployment site as it is, and what becomes of it decides; with a made-up site and `az`."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from infra import publish
from infra.azure_cli import CommandError
from tests.infra.scripts.serving import Answer, serving

PACKAGE = b"PK\x03\x04 a package"
type Reply = tuple[int, object]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.publish._MAX_POLLS", 4)


class Site:
    """Answers in order, the last answer for ever; remembers what it was sent."""

    def __init__(self) -> None:
        self.address = ""
        self.taking: list[Reply] = [(202, "d-1")]
        self.outcomes: list[Reply] = [(202, {"status": 1}), (200, {"status": 4})]
        self.sent: list[tuple[str, str, bytes]] = []

    def answer(self, asked: BaseHTTPRequestHandler) -> Answer:
        if asked.command == "POST":
            body = asked.rfile.read(int(asked.headers["Content-Length"]))
            self.sent.append((asked.path, asked.headers["Authorization"], body))
        else:
            assert asked.path == "/api/deployments/d-1"
        replies = self.taking if asked.command == "POST" else self.outcomes
        status, answer = replies.pop(0) if len(replies) > 1 else replies[0]
        return status, answer if isinstance(answer, bytes) else json.dumps(answer).encode(), {}


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    with serving(made.answer) as made.address:
        yield made


def az_of(site: Site) -> Callable[..., Any]:
    def call(*arguments: str) -> Any:
        if arguments[:2] == ("functionapp", "show"):
            assert arguments[2:] == ("--resource-group", "rg", "--name", "func")
            host = site.address.removeprefix("http://")
            names = [{"hostType": "Standard", "name": "x"}, {"hostType": "Repository", "name": host}]
            return {"name": "func", "properties": {"hostNameSslStates": names}}
        return {"accessToken": "a-token"} if arguments[:2] == ("account", "get-access-token") else None

    return call


def published(folder: Path, call: Callable[..., Any]) -> int:
    package = folder / "app.zip"
    package.write_bytes(PACKAGE)
    return publish.main(["--resource-group", "rg", "--app", "func", "--package", str(package)], call, scheme="http")


def test_the_package_is_sent_as_it_is_and_nothing_is_built(site: Site, tmp_path: Path) -> None:
    assert published(tmp_path, az_of(site)) == 0
    assert site.sent == [("/api/publish?RemoteBuild=false", "Bearer a-token", PACKAGE)]


def test_the_package_goes_to_the_app_of_the_subscription_that_is_named(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "s-1")
    seen = []

    def call(*arguments: str) -> Any:
        seen.append(arguments[-2:])
        return az_of(site)(*arguments[:-2])

    assert published(tmp_path, call) == 0
    assert seen == [("--subscription", "s-1")] * 2


def test_a_failed_deployment_fails_in_its_own_words(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.outcomes = [(200, {"status": 3, "status_text": "No host.json"})]
    assert published(tmp_path, az_of(site)) == 1
    assert capsys.readouterr().err == "The deployment failed: No host.json\n"


@pytest.mark.parametrize("status", [-1, 5, 6])
def test_a_deployment_that_ends_otherwise_fails(site: Site, status: int) -> None:
    site.outcomes = [(200, {"status": status})]
    with pytest.raises(CommandError, match=r"The deployment (was cancelled|succeeded in part only)"):
        publish.wait_for(site.address, "t", "d-1", pause_seconds=0)


def test_a_deployment_whose_worker_is_gone_has_ended(site: Site) -> None:
    site.outcomes = [(404, ""), (202, {"status": 2}), (404, "")]
    publish.wait_for(site.address, "t", "d-1", pause_seconds=0)


def test_a_deployment_that_never_shows_does_not_count(site: Site) -> None:
    site.outcomes = [(404, "")]
    with pytest.raises(CommandError, match=r"d-1 hasn't ended after 0 s; http\S+ last answered 404"):
        publish.wait_for(site.address, "t", "d-1", pause_seconds=0)


def test_an_answer_that_is_no_json_is_named(site: Site) -> None:
    site.taking = site.outcomes = [(200, b"<html>Sign in to the proxy</html>")]
    with pytest.raises(CommandError, match="other than JSON: <html>Sign in to the proxy"):
        publish.publish(site.address, "t", PACKAGE, pause_seconds=0)
    with pytest.raises(CommandError, match="other than JSON: <html>Sign in to the proxy"):
        publish.wait_for(site.address, "t", "d-1", pause_seconds=0)


@pytest.mark.parametrize("early", [(403, "no role yet"), (503, ""), (400, "BlobUploadFailedException: 403")])
def test_steps_that_a_new_app_is_not_ready_for_are_tried_again(site: Site, early: Reply) -> None:
    site.taking = [early, early, (202, "d-1")]
    assert publish.publish(site.address, "t", PACKAGE, pause_seconds=0) == "d-1"
    assert len(site.sent) == 3


def test_waiting_for_a_site_says_so_and_an_app_that_stays_closed_may_be_private(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.taking = [(503, ""), (403, "Ip Forbidden")]
    with pytest.raises(CommandError, match=r"status 403: .*Ip Forbidden.* only from within its network"):
        publish.publish(site.address, "t", PACKAGE, pause_seconds=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{site.address} answered 503 to the package, attempt 1 of 10."
    assert lines[1] == f"{site.address} answered 403 to the package, attempt 2 of 10."
    assert len(lines) == len(site.sent) == 10


def test_a_package_that_is_refused_is_not_sent_again(site: Site) -> None:
    site.taking = [(400, "InvalidPackageContentException")]
    with pytest.raises(CommandError, match=r"refused the package with status 400: .*InvalidPackage"):
        publish.publish(site.address, "t", PACKAGE, pause_seconds=0)
    assert len(site.sent) == 1


@pytest.mark.parametrize("nest", [lambda shown: shown, lambda shown: {"properties": shown}])
def test_the_deployment_site_is_found_however_the_cli_shows_the_app(nest: Callable[[Any], Any]) -> None:
    shown = nest({"hostNameSslStates": [{"hostType": "Repository", "name": "func.scm.example"}]})
    assert publish.deployment_site("rg", "func", lambda *_: shown) == "func.scm.example"


def test_an_app_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match="func has no deployment site"):
        publish.deployment_site("rg", "func", lambda *_: None)


def test_a_package_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["--resource-group", "rg", "--app", "func", "--package", str(tmp_path / "none.zip")]
    with pytest.raises(SystemExit):
        publish.main(command, lambda *_: None)
    assert "`python3 dev.py build` makes it" in capsys.readouterr().err
