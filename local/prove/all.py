"""Runs every long proof in turn and prints one table: whether each held, its duration, commit and date.

The exit code is 1 if a proof fails. All together take hours, the soak alone two; `counts` is left out, as it needs a
running stack, and so is `gpu` without a driver of NVIDIA. With `--write` each proof writes its section of
docs/proofs.md, and this program its table.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from local.dev.checking.figures import code_version, markdown
from local.dev.scripts import script_names
from local.dev.system.checkout import HERE
from local.dev.system.console import say
from local.prove.reporting.proofs_page import write_section

_NOT_ALONE = ("all", "counts")
_LAST = "soak"  # as it takes longest
_NEEDED = {"gpu": Path("/dev/nvidiactl")}
_HEADER = ("proof", "figure", "bar", "ok", "commit", "date")


@dataclass(frozen=True, slots=True)
class Proof:
    """The exit code and duration of a proof."""

    name: str
    code: int
    minutes: float

    @property
    def ok(self) -> bool:
        return self.code == 0


def names() -> list[str]:
    """Returns all proofs that can run here, the longest last."""
    found = [name for name in script_names(HERE.root / "local/prove") if name not in _NOT_ALONE]
    return sorted(found, key=lambda name: name == _LAST)


def is_possible(name: str) -> bool:
    """Returns whether this machine has the device that a proof needs."""
    return name not in _NEEDED or _NEEDED[name].exists()


def run(name: str, *, write: bool) -> Proof:
    """Runs a proof to its end; with `write` it writes its section, if it has one."""
    command = [sys.executable, "-m", f"local.prove.{name.replace('-', '_')}"]
    if write and _writes(command):
        command.append("--write")
    began = time.monotonic()
    code = subprocess.run(command, cwd=HERE.root, check=False).returncode
    return Proof(name, code, round((time.monotonic() - began) / 60, 1))


def summary(proofs: Sequence[Proof], commit: str, date: str) -> str:
    """Returns one table of all proofs."""
    return markdown(
        _HEADER,
        [
            (
                one.name,
                f"exit code {one.code} after {one.minutes} min",
                "exit code 0",
                "ok" if one.ok else "NOT PROVED",
                commit,
                date,
            )
            for one in proofs
        ],
    )


def _writes(command: Sequence[str]) -> bool:
    shown = subprocess.run([*command, "--help"], cwd=HERE.root, check=False, capture_output=True, text=True)
    return "--write" in shown.stdout


def main() -> int:
    options = _options(sys.argv[1:])
    version, date = code_version(HERE.root), f"{datetime.now(UTC):%Y-%m-%d}"
    proofs = []
    for name in options.only or filter(is_possible, names()):
        if name not in options.without:
            say(f"\n{name}")
            proofs.append(run(name, write=options.write))
    commit = version.rpartition(" ")[2]
    found = summary(proofs, commit, date)
    say(f"\n{found}")
    if options.json:
        answer = {"name": "all", "commit": commit, "date": date, "proofs": [asdict(one) for one in proofs]}
        options.json.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    if options.write:
        write_section("all", f"`dev.py prove all` on {date}, {version}:\n\n{found}")
    return 0 if all(one.ok for one in proofs) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py prove all", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--only", action="append", choices=names(), help="just this proof, repeatable")
    parser.add_argument("--without", action="append", default=[], choices=names(), help="not this proof, repeatable")
    parser.add_argument("--write", action="store_true", help="write docs/proofs.md")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
