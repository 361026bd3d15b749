"""The command line of dev.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from local.dev.commands import parser, split
from local.dev.scripts import script_names, spread
from local.dev.system.checkout import HERE

COMMANDS = (
    *(
        "up",
        "emulator",
        "backup",
        "restore",
        "test",
        "check",
        "bench",
        "prove",
        "deploy-check",
        "build",
        "sbom",
        "clean",
    ),
    "lock",
)


def dev(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE.root / "dev.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command: str, tmp_path: Path) -> None:
    done = dev(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: dev.py {command}")


def test_help_lists_every_command() -> None:
    listed = dev("--help").stdout
    assert all(f"    {command} " in listed for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["up", "--port", "70000"], "70000 is not a port"),
        (["up", "--port", "x"], "x is not a port"),
        (["up", "--speed", "0"], "0 is not a number above 0"),
        (["up", "--scenario", "nope"], "invalid choice: 'nope'"),
        (["up", "--account", "http://contoso.westeurope.batch.azure.com"], "is not of the form https://NAME.REGION"),
        (["up", "--account", "https://contoso.example.com"], "is not of the form https://NAME.REGION"),
        (["bench", "nope"], 'There is no bench "nope"'),
        (["prove", "nope"], 'There is no prove "nope"'),
        (["nope"], "invalid choice: 'nope'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], said: str) -> None:
    done = dev(*arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("suffix", ["azure.com", "usgovcloudapi.net", "chinacloudapi.cn"])
def test_accounts_of_each_cloud_that_the_app_knows_can_be_watched(suffix: str) -> None:
    account = f"https://contoso.region.batch.{suffix}"
    assert parser().parse_args(["up", "--account", account]).account == [account]


def test_arguments_of_tests_and_scripts_pass_through_untouched() -> None:
    assert split(["test", "-k", "poll", "tests/dev"]) == (["test"], ["-k", "poll", "tests/dev"])
    assert split(["bench", "cold", "--json", "x"]) == (["bench", "cold"], ["--json", "x"])
    assert split(["bench", "cold", "--help"]) == (["bench", "cold"], ["--help"])
    assert split(["test", "--help"]) == (["test", "--help"], [])
    assert split(["emulator", "--help"]) == (["emulator"], ["--help"])
    assert split(["up", "--port", "0"]) == (["up", "--port", "0"], [])


def test_the_whole_suite_runs_on_all_cores_and_a_named_test_alone() -> None:
    assert "--numprocesses=auto" in spread(HERE.root, ["-k", "poll", "--junitxml=x.xml", "-o", "a=b"])
    assert spread(HERE.root, ["tests/dev"]) == ()
    assert spread(HERE.root, ["-x", "tests/dev/test_commands.py::test_scripts_are_named_with_hyphens"]) == ()


def test_scripts_are_named_with_hyphens() -> None:
    assert {"first-read", "fleet", "exact"} <= set(script_names(HERE.root / "local/prove"))
