"""Calls the Azure CLI for the scripts beside this file, which need no packages: `python3 dev.py infra NAME`.

On Windows `az` is a batch file, in which cmd.exe interprets `&`, `|`, `<`, `>`, `^`, `%` and parentheses in arguments
(azure-cli #14783). No argument has any of these, except where the path of this checkout or of temporary files has.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

type Az = Callable[..., Any]
"""Runs `az` with arguments and gives its JSON answer."""


SUBSCRIPTION = "AZURE_SUBSCRIPTION_ID"
"""The variable that names the subscription: azd gives it to its hooks."""
_NAMES = {"az": "the Azure CLI", "azd": "the Azure Developer CLI"}


_UNSCOPED = {"ad", "bicep", "cloud", "rest", "version"}
"""Commands of the directory, the cloud and the tools; `az rest` finds the subscription in the address."""


class CommandError(Exception):
    """The Azure CLI is missing, or what was asked of it failed; the text says which."""


def az(*arguments: str) -> Any:
    """What `az` answers, parsed; None when it answers nothing. Raises CommandError."""
    return parsed([_program("az"), *arguments, "--only-show-errors", "--output", "json"])


def in_subscription(call: Az, subscription: str | None) -> Az:
    """Commands in a subscription, if one is given, instead of the one that `az` is set to."""
    if not subscription:
        return call
    return lambda *arguments: call(*arguments, *(() if arguments[0] in _UNSCOPED else ("--subscription", subscription)))


def words_of(*arguments: str) -> str:
    """What `az` prints where that is no JSON. Raises CommandError."""
    return _output([_program("az"), *arguments])


def azd(*arguments: str) -> str:
    """What `azd` prints. Raises CommandError."""
    return _output([_program("azd"), *arguments])


def flat(resource: Mapping[str, Any] | None) -> dict[str, Any]:
    """A resource with its properties beside its name, where `az` shows them in a level of their own.

    `az functionapp show` does so for Flex Consumption, and newer versions for more (azure-cli, `show_functionapp`).
    """
    shown = resource or {}
    return {**shown, **(shown.get("properties") or {})}


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CommandError(f"{_NAMES[name]} ({name}) is not installed, or not on the PATH.")
    return found


def parsed(command: Sequence[str]) -> Any:
    """The JSON that a command prints. Raises CommandError with the command's own words."""
    text = _output(command)
    return json.loads(text) if text else None


def _output(command: Sequence[str]) -> str:
    # Without input a command that asks a question fails, instead of waiting for an answer to words that nobody sees.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        words = " ".join(done.stderr.split()).removeprefix("ERROR: ")
        raise CommandError(f"{Path(command[0]).stem} {' '.join(command[1:4])} failed: {words}")
    return done.stdout.strip()
