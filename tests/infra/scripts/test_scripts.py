"""The scripts that talk to Azure through its command line, with a made-up `az` in its place."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infra import event_subscriptions
from infra.azure_cli import CommandError, az, parsed
from tests.infra.scripts.answering_az import Az
from tests.infra.scripts.fake_az import SPECIAL, write_programs

STORAGE_ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/store"


def blob_function(name: str, path: str, source: str = "EventGrid") -> dict[str, Any]:
    binding = {"type": "blobTrigger", "path": path, "source": source}
    return {"name": f"func/{name}", "config": {"bindings": [binding]}}


TIMER = {"name": "func/tick", "config": {"bindings": [{"type": "timerTrigger"}]}}
SUBSCRIBE = ("--resource-group", "rg", "--app", "func", "--storage", "store")


def subscribing(*functions: dict[str, Any], topics: Any = None) -> Az:
    return Az(
        functionapp_function_list=list(functions),
        storage_account_show={"id": STORAGE_ID},
        **{"eventgrid_system-topic_list": topics},
    )


def test_blob_functions_are_subscribed_and_others_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    az = subscribing(TIMER, blob_function("node_telemetry", "telemetry/{name}"))
    assert event_subscriptions.main(SUBSCRIBE, az) == 0
    (deployment,) = az.called("deployment group create")
    wanted = [{"functionName": "node_telemetry", "containerName": "telemetry"}]
    assert f"triggers={json.dumps(wanted)}" in deployment
    assert "existingTopicName= " in deployment
    assert f"--template-file {Path(event_subscriptions.__file__).with_name('events.bicep')} " in deployment
    assert "appName=func storageAccountName=store " in deployment
    assert "node_telemetry is told of new blobs in telemetry." in capsys.readouterr().out


def test_a_topic_that_the_storage_has_is_used_again() -> None:
    topics = [{"name": "other", "source": "/other"}, {"name": "mine", "source": STORAGE_ID.upper()}]
    az = subscribing(blob_function("a", "telemetry/{name}"), topics=topics)
    assert event_subscriptions.main(SUBSCRIBE, az) == 0
    assert "existingTopicName=mine " in az.called("deployment group create")[0]


def test_without_blob_functions_nothing_is_deployed(capsys: pytest.CaptureFixture[str]) -> None:
    az = subscribing(TIMER)
    assert event_subscriptions.main(SUBSCRIBE, az) == 0
    assert az.called("deployment") == []
    assert "nothing to subscribe" in capsys.readouterr().out


def test_functions_and_topics_are_read_however_the_cli_shows_them() -> None:
    function = blob_function("a", "telemetry/{name}")
    nested = {"name": function["name"], "properties": {"name": "a", "config": function["config"]}}
    az = subscribing(nested, topics=[{"name": "own", "properties": {"source": STORAGE_ID}}])
    assert event_subscriptions.main(SUBSCRIBE, az) == 0
    (deployed,) = az.called("deployment")
    assert "existingTopicName=own" in deployed
    assert '"containerName": "telemetry"' in str(deployed)


@pytest.mark.parametrize(
    "shown", [{"publicNetworkAccess": "Disabled"}, {"properties": {"publicNetworkAccess": "Disabled"}}]
)
def test_a_private_app_is_not_subscribed(shown: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    az = subscribing(blob_function("a", "telemetry/{name}"))
    az.answers["functionapp show"] = shown
    assert event_subscriptions.main(SUBSCRIBE, az) == 0
    assert az.called("deployment") == []
    assert "each tick looks for new blobs" in capsys.readouterr().out


def test_an_app_that_has_no_functions_yet_is_waited_for() -> None:
    answers = iter([None, [], [blob_function("a", "telemetry/{name}")]])
    az = subscribing()

    def call(*arguments: str) -> Any:
        return next(answers) if arguments[:2] == ("functionapp", "function") else az(*arguments)

    assert event_subscriptions.main(SUBSCRIBE, call, pause_seconds=0) == 0
    assert '"a"' in az.called("deployment group create")[0]


def test_an_app_without_any_function_fails_in_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    az = subscribing()
    assert event_subscriptions.main(SUBSCRIBE, az, pause_seconds=0) == 1
    assert len(az.called("functionapp function list")) > 1
    assert "func has no functions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (blob_function("a", "%CONTAINER%/{name}"), "a doesn't name its container"),
        (blob_function("a", "telemetry/{name}", source="LogsAndContainerScan"), "a scans for blobs"),
    ],
)
def test_a_function_that_no_event_can_reach_is_named(
    function: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert event_subscriptions.main(SUBSCRIBE, subscribing(function)) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("character", SPECIAL)
def test_the_made_up_az_refuses_characters_that_cmd_interprets(
    character: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_programs(tmp_path, {"az account show": {}})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert az("account", "show") == {}
    with pytest.raises(CommandError, match="interprets"):
        az("account", "show", f"a{character}b")


def test_a_failing_command_is_reported_in_its_own_words() -> None:
    program = "import sys; sys.exit('no rights')"
    with pytest.raises(CommandError, match="no rights"):
        parsed([sys.executable, "-c", program, "create"])
    assert parsed([sys.executable, "-c", "print('[1]')"]) == [1]
    assert parsed([sys.executable, "-c", "pass"]) is None


def test_answers_are_json_regardless_of_the_cli_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: sys.executable)
    asked = az("-c", "import json, sys; print(json.dumps(sys.argv[1:]))")
    assert asked == ["--only-show-errors", "--output", "json"]
