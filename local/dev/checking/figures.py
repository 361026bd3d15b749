"""Finds figures in docs that are older than the code that they measure.

A benchmark or proof names the paths that it measures in `MEASURED_PATHS`; its section in docs has the commit of its
last run. This module compares both with git's log. Docstrings and comments don't count: figures stay valid if nothing
else changed. It runs nothing and changes nothing.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from local.dev.system.git import git_output

FIGURES = re.compile(r"<!-- figures of (?P<name>[\w-]+) -->\n(?P<text>.*?)<!-- end of figures -->\n", re.DOTALL)
_HEADING = re.compile(r"^## (?P<name>[\w-]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_COMMIT = re.compile(r"\bcommit (?:\S+-g)?(?P<commit>[0-9a-f]{7,40})\b")
_PAGES = {"bench": ("docs/benchmarks.md", FIGURES), "prove": ("docs/proofs.md", _HEADING)}
_FOLDERS = {"bench": "bench", "prove": "local/prove"}


@dataclass(frozen=True, slots=True)
class Section:
    """Figures written by `dev.py KIND NAME`; `commit` is None if they don't state theirs."""

    kind: str
    name: str
    commit: str | None

    @property
    def page(self) -> str:
        return _PAGES[self.kind][0]

    @property
    def command(self) -> str:
        """Returns the dev.py command that measures again and writes the figures."""
        return f"bench all --only {self.name} --write" if self.kind == "bench" else f"prove {self.name} --write"


def code_version(root: Path) -> str:
    """Returns the version and commit of a checkout, with `-dirty` if a tracked file differs from that commit.

    Pages of docs don't count, as consecutive runs write their figures there.
    """
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    commit = git_output(root, "describe", "--always")
    changed = git_output(root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return f"version {version}, commit {commit or 'unknown'}{'-dirty' if changed else ''}"


def sections(root: Path) -> list[Section]:
    """Returns all figures in docs that come from a benchmark or proof of this checkout."""
    found = []
    for kind, (page, pattern) in _PAGES.items():
        path = root / page
        for match in pattern.finditer(path.read_text(encoding="utf-8") if path.exists() else ""):
            if script_of(root, kind, match["name"]).exists():
                commit = _COMMIT.search(match["text"])
                found.append(Section(kind, match["name"], commit["commit"] if commit else None))
    return found


def script_of(root: Path, kind: str, name: str) -> Path:
    """Returns the module of a benchmark or proof: `NAME.py`, or `NAME/__main__.py` if there is a package."""
    module = root / _FOLDERS[kind] / name.replace("-", "_")
    program = module / "__main__.py"
    return program if program.exists() else module.with_suffix(".py")


def measured_paths(script: Path) -> Sequence[str]:
    """Returns the paths that a benchmark or proof measures, from its source without running it; may be empty."""
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["MEASURED_PATHS"]:
            return tuple(ast.literal_eval(node.value))
    return ()


def old_figures(root: Path) -> list[str]:
    """Returns a sentence for each section that is older than its measured code, or can't be checked."""
    shallow = git_output(root, "rev-parse", "--is-shallow-repository")
    if shallow is None:
        return ["Whether figures in docs are of the present code can't be told: this is no checkout of git."]
    if shallow == "true":
        return ["Whether figures in docs are of the present code can't be told: this clone is shallow."]
    return [sentence for section in sections(root) if (sentence := _judged(root, section))]


def _judged(root: Path, section: Section) -> str | None:
    place, command = f"{section.page}, {section.name}", f"python3 dev.py {section.command}"
    if section.commit is None:
        return f"{place}: of an unknown commit; {command} measures again."
    paths = measured_paths(script_of(root, section.kind, section.name))
    since = git_output(root, "log", "--format=%h", f"{section.commit}..HEAD", "--", *paths)
    if since is None:
        return f"{place}: of commit {section.commit}, which this repository doesn't have; {command} measures again."
    if not since or _is_same_code(root, section.commit, paths):
        return None
    number = len(since.splitlines())
    later = "a later commit has" if number == 1 else f"{number} later commits have"
    return f"{place}: of commit {section.commit}, and {later} changed what it measures; {command} measures again."


def _is_same_code(root: Path, commit: str, paths: Sequence[str]) -> bool:
    """Returns True if all files changed since a commit are Python, and differ only in docstrings and comments."""
    head = git_output(root, "rev-parse", "HEAD") or ""
    changed = git_output(root, "diff", "--no-renames", "--name-only", commit, head, "--", *paths)
    return changed is not None and all(
        name.endswith(".py") and _code(root, commit, name) == _code(root, head, name) for name in changed.splitlines()
    )


@cache
def _code(root: Path, commit: str, name: str) -> str:
    """Returns a module's syntax tree without docstrings, or a text unique to `commit` without a valid module."""
    try:
        tree = ast.parse(git_output(root, "show", f"{commit}:{name}") or commit)
    except SyntaxError:
        return commit
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    """Returns whether a statement is a docstring of a module, class, function or attribute."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def replaced(page: str, name: str, text: str) -> str:
    """Returns a page with new figures of that name: in place of the old ones, or in a new section at the end."""
    block = f"<!-- figures of {name} -->\n{text.strip()}\n<!-- end of figures -->\n"
    for match in FIGURES.finditer(page):
        if match["name"] == name:
            return page[: match.start()] + block + page[match.end() :]
    return f"{page.rstrip()}\n\n## {name}\n{block}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])
