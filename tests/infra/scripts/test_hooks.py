"""The hooks of azd stop with one sentence where they can't do their work, whatever Python they are started with."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.dev.scripts import INFRA
from local.dev.system.checkout import HERE
from tests.infra.scripts.answering_az import PUBLIC, REGISTRATION
from tests.infra.scripts.fake_az import write_programs

VERSIONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
CLIENT = "33333333-0000-0000-0000-000000000000"
SUBSCRIPTION = "11111111-0000-0000-0000-000000000000"
OUTPUTS = {
    "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
    "AZURE_ENV_NAME": "dev",
    "AUTH_CLIENT_ID": CLIENT,
    "AZURE_RESOURCE_GROUP": "rg",
    "AZURE_FUNCTION_APP_NAME": "func",
    "BATCHSCOPE_PRINCIPAL_ID": "p-1",
    "BATCHSCOPE_TELEMETRY_STORAGE": "store",
    "BATCHSCOPE_URL": "https://app.example",
}
REGISTERED: Mapping[str, Any] = {
    "az account show": {"id": SUBSCRIPTION, "tenantId": "t-1"},
    "az cloud show": PUBLIC,
    "az ad app list": [REGISTRATION],
    "az ad app update": "",
    "az rest --method PATCH": "",
    "az ad sp list": [{}],
    "az ad sp update": "",
    "azd env set": "",
}


def run_hook(name: str, folder: Path, answers: Mapping[str, Any] | None, python: str = sys.executable) -> Any:
    """Run a hook as azd does on POSIX, with made-up tools, or none; its `python3` is `python`."""
    whole = yaml.safe_load((HERE.root / "azure.yaml").read_text(encoding="utf-8"))
    hook = {**whole["hooks"], **whole["services"]["app"]["hooks"]}[name]["posix"]
    if answers is not None:
        write_programs(folder, answers)
    (folder / "python3").symlink_to(python)
    (folder / "python3.13").symlink_to(sys.executable)
    script = folder / "hook.sh"
    script.write_text(f"#!/bin/sh\nset -e\n\n{hook['run']}\n")
    environment = {"PATH": str(folder), "HOME": str(folder), **OUTPUTS}
    return subprocess.run(
        ["/bin/sh", str(script)], cwd=HERE.root, env=environment, capture_output=True, text=True, check=False
    )


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


@pytest.fixture(params=["3.6", "3.8", "3.12", "3.13"])
def some_python(request: pytest.FixtureRequest) -> str:
    if request.param == "3.13":
        return sys.executable
    found = sorted(VERSIONS.glob(f"{request.param}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {request.param} under pyenv to start dev.py with")
    return str(found[-1])


def test_a_registration_is_kept_in_the_environment_of_azd(tmp_path: Path, some_python: str) -> None:
    done = run_hook("preprovision", tmp_path, REGISTERED, some_python)
    assert done.returncode == 0, done.stderr
    assert asked(tmp_path)[-1] == f"azd env set AUTH_CLIENT_ID {CLIENT}"
    assert "az ad app list --filter displayName eq 'batchscope-dev'" in asked(tmp_path)


def test_without_az_nothing_goes_on(tmp_path: Path, some_python: str) -> None:
    done = run_hook("preprovision", tmp_path, None, some_python)
    assert done.returncode == 1
    assert (
        done.stderr
        == "No sign-in for Batchscope: the Azure CLI (az) is not installed, or not on the PATH. Nothing was deployed.\n"
    )


def test_a_registration_that_fails_leaves_no_client_id_behind(tmp_path: Path) -> None:
    done = run_hook("preprovision", tmp_path, {**REGISTERED, "az ad app list": {"fails": "ERROR: No rights.\nAt all."}})
    assert done.returncode == 1
    assert done.stderr == "No sign-in for Batchscope: az ad app list failed: No rights. At all. Nothing was deployed.\n"
    assert not [line for line in asked(tmp_path) if line.startswith("azd")]


def test_a_registration_is_not_made_in_another_tenant_than_that_of_the_deployment(tmp_path: Path) -> None:
    other = {**REGISTERED, "az account show": {"tenantId": "t-2"}}
    wanted = {f"az account show --subscription {SUBSCRIPTION}": {"tenantId": "t-1"}}
    done = run_hook("preprovision", tmp_path, {**other, **wanted})
    assert done.returncode == 1
    assert f"Run `az account set --subscription {SUBSCRIPTION}`. Nothing was deployed.\n" in done.stderr
    assert not [line for line in asked(tmp_path) if not line.startswith("az account show")]


def test_without_a_subscription_no_registration_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OUTPUTS, "AZURE_SUBSCRIPTION_ID")
    done = run_hook("preprovision", tmp_path, REGISTERED)
    assert done.returncode == 1
    assert "AZURE_SUBSCRIPTION_ID isn't set. Run `azd env set AZURE_SUBSCRIPTION_ID …`. Nothing was" in done.stderr


@pytest.mark.parametrize("name", ["preprovision", "postprovision"])
def test_the_directory_is_asked_without_a_subscription(name: str, tmp_path: Path) -> None:
    connected: dict[str, Any] = {"az ad app federated-credential": [], "az ad app show": {}}
    assert run_hook(name, tmp_path, {**REGISTERED, **connected}).returncode == 0
    assert not [line for line in asked(tmp_path) if "--subscription" in line and "account show" not in line]


def test_events_are_subscribed_in_the_subscription_of_the_deployment(tmp_path: Path) -> None:
    binding = {"type": "blobTrigger", "path": "telemetry/{name}", "source": "EventGrid"}
    answers = {
        "az functionapp show": {},
        "az functionapp function list": [{"name": "func/a", "config": {"bindings": [binding]}}],
        "az storage account show": {"id": "s-1"},
        "az eventgrid system-topic list": [],
        "az deployment group create": {},
    }
    done = run_hook("postdeploy", tmp_path, answers)
    assert done.returncode == 0, done.stderr
    assert len(asked(tmp_path)) == len(answers)
    assert all(line.endswith(f" --subscription {SUBSCRIPTION}") for line in asked(tmp_path))


def test_a_client_id_that_cannot_be_kept_stops_it(tmp_path: Path) -> None:
    done = run_hook("preprovision", tmp_path, {**REGISTERED, "azd env set": {"fails": "ERROR: no environment"}})
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "azd env set AUTH_CLIENT_ID failed: no environment" in done.stderr


@pytest.mark.parametrize("name", ["postprovision", "postdeploy"])
def test_every_later_hook_stops_with_one_sentence(name: str, tmp_path: Path) -> None:
    done = run_hook(name, tmp_path, {})
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "failed: nobody answers" in done.stderr


def test_azd_does_not_pack_the_folder(tmp_path: Path) -> None:
    done = run_hook("prepackage", tmp_path, {})
    assert done.returncode == 1
    assert done.stderr.startswith("azd can't pack this app: use 'azd up'")


@pytest.mark.parametrize("name", INFRA)
def test_every_script_is_there_and_shows_its_help(name: str) -> None:
    command = [sys.executable, str(HERE.root / "dev.py"), "infra", name, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: ")


@pytest.mark.parametrize("version", ["3.6", "3.8", "3.12"])
def test_a_script_that_is_started_with_an_old_python_says_so_in_one_sentence(version: str) -> None:
    found = sorted(VERSIONS.glob(f"{version}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {version} under pyenv to start dev.py with")
    command = [str(found[-1]), "-m", "infra.app_registration", "ensure", "--name", "x"]
    done = subprocess.run(command, cwd=HERE.root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert f"need Python 3.13, and this is Python {version}." in done.stderr
