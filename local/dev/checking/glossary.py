"""Keeps docs/glossary.md and the code together.

A faulty glossary fails the check: an entry without an owner, an owner that is gone, too many or too long entries.
Public classes with an unknown head noun, the last word of their name, are only listed. The head noun is known if it is
a standard noun or ends a term of the glossary, in the singular or the plural. Nothing is imported or run.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local.dev.checking.standard_nouns import STANDARD_NOUNS

PAGE = "docs/glossary.md"
MAX_TERMS = 60
MAX_LINES = 2
_CODE = ("functions", "shared", "local/batch_emulator", "local/functions_host", "local/workload")
_ENTRY = re.compile(r"^- \*\*(?P<term>[^*\n]+)\*\*(?P<text>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_OWNER = re.compile(r"`(?P<path>[\w./\-]+\.py)`\s*\Z")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A term of the glossary; `owner` is the path of its module, None if the entry doesn't end with one."""

    term: str
    owner: str | None
    line: int
    lines: int


def entries(page: str) -> list[Entry]:
    """Returns the entries of a glossary, which are the list items that begin with a term in bold."""
    found = []
    for match in _ENTRY.finditer(page):
        owner = _OWNER.search(match["text"])
        line = page.count("\n", 0, match.start()) + 1
        found.append(Entry(match["term"], owner["path"] if owner else None, line, match[0].count("\n") + 1))
    return found


def glossary_faults(root: Path) -> list[str]:
    """Returns a line for each fault of the glossary."""
    found = _entries_of(root)
    if not found:
        return [f"{PAGE} has no entries"]
    faults = [f"{PAGE}:{entry.line}: {entry.term} {fault}" for entry in found for fault in _faults(root, entry)]
    terms = [entry.term.lower() for entry in found]
    faults += [f"{PAGE}: {term} has several entries" for term in sorted(set(terms)) if terms.count(term) > 1]
    if len(found) > MAX_TERMS:
        faults.append(f"{PAGE}: {len(found)} terms, more than {MAX_TERMS}; use standard terms instead of some")
    return faults


def unknown_nouns(root: Path) -> list[str]:
    """Returns a line for each public class with an unknown head noun: its module, line and name."""
    known = STANDARD_NOUNS | {entry.term.lower().split()[-1] for entry in _entries_of(root)}
    return [
        f"{path.relative_to(root).as_posix()}:{line}: {name}"
        for folder in _CODE
        for path in sorted((root / folder).rglob("*.py"))
        for line, name in _public_classes(path)
        if known.isdisjoint(_singulars(head_noun(name)))
    ]


def head_noun(name: str) -> str:
    """Returns the last word of a name in CamelCase, in lower case."""
    words: list[str] = _WORD.findall(name)
    return (words[-1] if words else name).lower()


def _entries_of(root: Path) -> list[Entry]:
    page = root / PAGE
    return entries(page.read_text(encoding="utf-8")) if page.exists() else []


def _faults(root: Path, entry: Entry) -> Iterator[str]:
    if entry.owner is None:
        yield "doesn't end with the path of its module, such as `shared/clock.py`"
    elif not (root / entry.owner).is_file():
        yield f"belongs to {entry.owner}, which is gone"
    if entry.lines > MAX_LINES:
        yield f"takes {entry.lines} lines, more than {MAX_LINES}"


def _public_classes(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.lineno, node.name


def _singulars(noun: str) -> set[str]:
    """Returns the noun, and its possible singulars if it may be a plural."""
    found = {noun}
    for ending, singular in (("s", ""), ("es", ""), ("ies", "y"), ("ices", "ex")):
        if noun.endswith(ending):
            found.add(noun.removesuffix(ending) + singular)
    return found
