"""Runs every benchmark in turn and prints one table of measures with a bar: figure, bar, verdict, commit, date.

The exit code is 1 if a bar is missed or a benchmark fails. Some take half an hour.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.report.rows import figure, limit, row, table
from local.dev.checking.figures import code_version, markdown, replaced
from local.dev.scripts import script_names
from local.dev.system.checkout import HERE
from local.dev.system.console import say

_PAGE = HERE.root / "docs/benchmarks.md"
_HEADER = ("bench", "measure", "figure", "bar", "ok", "commit", "date")


@dataclass(frozen=True, slots=True)
class Code:
    """The measured code: version, commit and date."""

    version: str
    date: str

    @property
    def commit(self) -> str:
        return self.version.rpartition(" ")[2]


def names() -> list[str]:
    return [name for name in script_names(HERE.root / "bench") if name != "all"]


def run(name: str) -> dict[str, Any]:
    """Returns a benchmark's JSON; a failed benchmark becomes a measure with a missed bar."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        command = [sys.executable, "-m", f"bench.{name.replace('-', '_')}", "--json", str(found)]
        code = subprocess.run(command, cwd=HERE.root, check=False).returncode
        if found.exists():
            answer: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
            return answer
    return {"name": name, "machine": "", "measures": [row("exit code", code, "", bar=0)]}


def summary(answers: Iterable[dict[str, Any]], code: Code) -> str:
    """Returns one table of all measures with a bar."""
    return markdown(
        _HEADER,
        [
            (answer["name"], one["measure"], figure(one), limit(one), _mark(one["ok"]), code.commit, code.date)
            for answer in answers
            for one in answer["measures"]
            if one["bar"] is not None
        ],
    )


def with_figures(page: str, answers: Iterable[dict[str, Any]], code: Code) -> str:
    """Returns the page of benchmarks with all measures, and with their commit, date and machine."""
    for answer in answers:
        if answer["machine"]:
            head = f"Of {code.version}, {code.date}, {answer['machine']}:"
            page = replaced(page, answer["name"], f"{head}\n\n{table(answer['measures'])}")
    return page


def is_held(answers: Iterable[dict[str, Any]]) -> bool:
    return all(one["ok"] for answer in answers for one in answer["measures"])


def _mark(ok: bool) -> str:  # noqa: FBT001 - a cell of a table
    return "ok" if ok else "MISSED"


def main() -> int:
    options = _options(sys.argv[1:])
    code = Code(code_version(HERE.root), f"{datetime.now(UTC):%Y-%m-%d}")
    answers = []
    for name in options.only or names():
        say(f"\n{name}")
        answers.append(run(name))
    say(f"\n{summary(answers, code)}")
    if options.json:
        found = {"name": "all", "commit": code.commit, "date": code.date, "benches": answers}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if options.write:
        _PAGE.write_text(with_figures(_PAGE.read_text(encoding="utf-8"), answers, code), encoding="utf-8")
    return 0 if is_held(answers) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py bench all", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measures there")
    parser.add_argument("--only", action="append", choices=names(), help="just this benchmark, repeatable")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
