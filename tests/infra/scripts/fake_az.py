"""Programs that stand in for `az` and `azd` on the PATH: they answer by how a command begins and note what is asked.

They refuse arguments that cmd.exe would interpret, as `az` is a batch file on Windows.
"""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAMES = ("az", "azd")
SPECIAL = "&|<>^%()"
"""Characters that cmd.exe interprets."""


def write_programs(folder: Path, answers: Mapping[str, Any]) -> None:
    """Put both programs into a folder; what they were asked is then in its file `asked`, a line each.

    An answer is printed as JSON, a text as it is, and {"fails": words} is how a command fails. The longest beginning
    counts; a command that has none fails.
    """
    cases = [
        f"{shlex.quote(beginning)}*) {_said(answers[beginning])} ;;" for beginning in sorted(answers, key=len)[::-1]
    ]
    for name in NAMES:
        lines = [
            "#!/bin/sh",
            f'asked="{name} $*"',
            f"printf '%s\\n' \"${{asked%% --only-show-errors*}}\" >>{shlex.quote(str(folder / 'asked'))}",
            'case "$asked" in',
            f"*[{''.join(f'\\{character}' for character in SPECIAL)}]*) echo 'cmd.exe interprets this' >&2; exit 1 ;;",
            *cases,
            "*) printf '%s\\n' \"nobody answers $asked\" >&2; exit 1 ;;",
            "esac",
        ]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)


def _said(answer: Any) -> str:
    if isinstance(answer, dict) and "fails" in answer:
        return f"printf '%s\\n' {shlex.quote(answer['fails'])} >&2; exit 1"
    return f"printf '%s\\n' {shlex.quote(answer if isinstance(answer, str) else json.dumps(answer))}"
