"""Figures of a run by name, for the terminal and docs/proofs.md, under a line with the command, date and machine."""

import os
import platform
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from local.dev.checking.figures import code_version, markdown
from local.dev.system.checkout import HERE


def command_line(name: str) -> str:
    """Returns the command that this process runs."""
    return shlex.join(["dev.py", "prove", name, *sys.argv[1:]])


def machine() -> str:
    return f"{platform.system()}, {os.cpu_count()} cores"


def headline(name: str, began: datetime) -> str:
    """Returns a run's command with its options, date, version and machine."""
    return f"{_dated(command_line(name), began)}, {machine()}"


def short_headline(name: str, began: datetime) -> str:
    """Returns a run's command, date and version, for proofs whose figures don't depend on options or the machine."""
    return _dated(f"dev.py prove {name}", began)


def _dated(command: str, began: datetime) -> str:
    return f"`{command}` on {began:%Y-%m-%d}, {code_version(HERE.root)}"


def figures_text(rows: Sequence[tuple[str, str]]) -> str:
    """Returns figures for the terminal, a line each."""
    figures = [(name.replace("*", ""), value.replace("*", "")) for name, value in rows]
    width = max(len(name) for name, _ in figures)
    return "\n".join(f"  {name:{width}}  {value}" for name, value in figures)


def figures_table(rows: Sequence[tuple[str, str]]) -> str:
    """Returns figures as Markdown."""
    return markdown(("figure", "value"), rows)


def counts_text(counts: Mapping[Any, int]) -> str:
    """Returns counts above 0 by name, or `none`."""
    return ", ".join(f"{name}: {number}" for name, number in sorted(Counter(counts).items()) if number) or "none"
