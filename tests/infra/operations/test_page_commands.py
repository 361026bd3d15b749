"""Commands that docs/operations.md tells operators to type, in blocks and amid sentences, exist with their options.

Our own are looked up in their help. Those of the Azure CLI and of azd are looked up in tables of what the page uses: a
new one is entered here after it was looked up in the reference of its tool.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from tests.infra.operations.test_operations_page import PAGE, commands_of

_GLOBAL = {"--query", "--output", "-o", "--subscription"}
_AZ: Mapping[str, set[str]] = {
    "account get-access-token": {"--resource"},
    "account set": {"--subscription"},
    "account show": set(),
    "ad app credential reset": {"--id", "--append", "--display-name", "--years"},
    "ad app delete": {"--id"},
    "ad app update": {"--id", "--set"},
    "ad sp show": {"--id"},
    "cloud set": {"--name"},
    "functionapp config appsettings set": {"--resource-group", "--name", "--settings"},
    "functionapp deployment source config-zip": {"--resource-group", "--name", "--src", "--build-remote"},
    "functionapp stop": {"--resource-group", "--name"},
    "group delete": {"--name", "--yes"},
    "identity create": {"--resource-group", "--name"},
    "identity show": {"--resource-group", "--name"},
    "keyvault secret set": {"--vault-name", "--name", "--file", "--encoding"},
    "keyvault show": {"--name"},
    "login": {"--tenant"},
    "monitor diagnostic-settings delete": {"--resource", "--name"},
    "provider register": {"--namespace"},
    "resource update": {"--resource-group", "--name", "--resource-type", "--set"},
    "role assignment create": {
        *("--assignee-object-id", "--assignee-principal-type", "--role", "--scope"),
        *("--condition", "--condition-version"),
    },
    "role assignment delete": {"--assignee", "--assignee-object-id", "--role", "--scope"},
    "role definition create": {"--role-definition"},
    "role definition delete": {"--name"},
    "storage account show": {"--name"},
    "storage blob delete": {"--name", "--auth-mode", "--account-name", "--container-name"},
    "storage blob upload": {
        *("--type", "--file", "--name", "--overwrite", "--auth-mode", "--account-name", "--container-name"),
    },
}
_AZD: Mapping[str, set[str]] = {
    "auth login": {"--tenant-id"},
    "config set": set(),
    "deploy": {"--from-package"},
    "env new": set(),
    "env set": set(),
    "up": set(),
}
"""Options of each command, beside those that all have."""
_BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OWN = ("backup", "restore")
_PROGRAM = re.compile(r"^(?:export \w+=\S*\()?(?:az|azd|python3 dev\.py) ", re.MULTILINE)


def inline_commands(page: str) -> Iterator[list[str]]:
    """Commands amid sentences, as words; `backup` and `restore` stand there without what is before them."""
    for text in re.findall(r"`([^`]+)`", _BLOCK.sub("", page)):
        words = (
            shlex.split(text.replace("…", "X")) if re.match(r"(az|azd|python3 dev\.py|backup|restore) ", text) else []
        )
        if words and (words[0] not in _OWN or words[1].startswith("--")):
            yield ["python3", "dev.py", *words] if words[0] in _OWN else words


def faults_of(command: list[str]) -> list[str]:
    """What is wrong with a command: unknown words, or options that it doesn't have."""
    program, *words = command
    options = {word for word in words if re.match(r"--?[a-z]", word)}
    if program == "python3":
        return _faults_of_own(words[1:], options)
    known = {"az": _AZ, "azd": _AZD}[program]
    found = [name for name in known if words[: len(name.split())] == name.split()]
    if not found:
        return [f"{program} has no {' '.join(words[:4])}, or it isn't entered here"]
    unknown = options - known[max(found, key=len)] - (_GLOBAL if program == "az" else set())
    return [f"{program} {max(found, key=len)} has no {option}" for option in sorted(unknown)]


def _faults_of_own(words: list[str], options: set[str]) -> list[str]:
    command = [word for word in words[:3] if re.fullmatch(r"[a-z][a-z-]*", word)]
    depth = {"infra": 3 if words[1:2] == ["app-registration"] else 2, "prove": 2, "bench": 2}.get(words[0], 1)
    text = _help(*command[:depth])
    if not text:
        return [f"dev.py has no {' '.join(command[:depth])}"]
    return [f"dev.py {' '.join(command)} has no {option}" for option in sorted(options) if f"{option} " not in text]


@cache
def _help(*command: str) -> str:
    """The help of one of our commands, without setting up what it needs to run; an empty text if there is none."""
    kind, *names = command
    module = names[0].replace("-", "_") if names else ""
    program = {
        "infra": ["-m", f"infra.{module}", *names[1:]],
        "prove": ["-m", f"local.prove.{module}"],
        "bench": ["-m", f"bench.{module}"],
        **{name: ["-m", "local.backup", name] for name in _OWN},
    }.get(kind, ["dev.py", *command])
    done = subprocess.run(
        [sys.executable, *program, "--help"], cwd=HERE.root, capture_output=True, text=True, check=False
    )
    return "" if done.returncode else done.stdout.replace("]", " ").replace("\n", " ")


INLINE = [*inline_commands(PAGE)]
BLOCKS = [block for block in _BLOCK.findall(PAGE) if _PROGRAM.search(block)]


@pytest.mark.parametrize("command", INLINE, ids=" ".join)
def test_a_command_amid_a_sentence_is_one_that_there_is(command: list[str]) -> None:
    assert faults_of(command) == []


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_commands_of_a_block_are_those_that_there_are(block: str, tmp_path: Path) -> None:
    found = commands_of(block, tmp_path)
    assert found
    for words in found:
        program = {"azd": [], "dev.py": ["python3"]}.get(words[0], ["az"])
        assert faults_of([*program, *words]) == []


def test_blocks_and_sentences_of_every_kind_are_looked_at() -> None:
    assert len(BLOCKS) > 12
    assert {command[0] for command in INLINE} == {"az", "azd", "python3"}
    for wanted in ("azd env new", "smoke-test", "dev.py backup", "bench cost", "app-registration grant"):
        assert any(wanted in block for block in BLOCKS), wanted


@pytest.mark.parametrize(
    "command",
    [
        "az group remove --name X",
        "az group delete --group X",
        "az role assignment delete --assignee-id X",
        "azd env create dev",
        "azd up --from-package X",
        "python3 dev.py infra smoke-tests https://X",
        "python3 dev.py infra smoke-test https://X --polled-since X",
        "python3 dev.py infra app-registration revoke --client-id X",
        "python3 dev.py restore --verify --name X",
        "python3 dev.py prove packages",
        "python3 dev.py deploy-check --az",
    ],
)
def test_a_command_that_there_is_not_is_noticed(command: str) -> None:
    assert faults_of(shlex.split(command))
