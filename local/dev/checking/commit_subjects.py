"""Finds subjects of commits that break the rules of CONTRIBUTING.md. It reads git's log and changes nothing.

It checks the commits since the last release: since the newest tag `v…`, else since the commit that CHANGELOG.md names
first. Commits based on the one that first added this file must follow the rules; earlier ones are only named. Merge
commits are skipped, as git and GitHub write their subjects.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from local.dev.system.git import git_output

MAX_LENGTH = 72
NOT_IMPERATIVE = re.compile(r"(?:ing|ed|[^us]s)$")
"""Endings of "Adding", "Added" and "Adds", but not of "Pass" and "Focus"."""
IMPERATIVE_EXCEPTIONS = frozenset(
    {
        *("Always", "Bring", "Embed", "Exceed", "Feed", "Need", "Ping", "Proceed"),
        *("Seed", "Shed", "Shred", "Speed", "String", "Succeed"),
    }
)
_FIRST_WORD = re.compile(r"[A-Z][a-z]+(?:['-][a-z]+)*(?=[ ,]|$)")
_RELEASE_COMMIT = re.compile(r"^Commit (?P<commit>[0-9a-f]{7,40})\b", re.MULTILINE)
_THIS_FILE = ":(glob)local/dev/**/commit_subjects.py"  # at any of its former paths
_AUTOSQUASH = ("fixup! ", "squash! ", "amend! ")


@dataclass(frozen=True, slots=True)
class SubjectReport:
    """Lines about commits: those that fail the check, and those that are only named; or the reason for having none."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unchecked: str = ""


def subject_faults(subject: str) -> list[str]:
    """Returns short descriptions of a subject's faults."""
    first = _FIRST_WORD.match(subject)
    word = first.group() if first else ""
    faults = []
    if len(subject) > MAX_LENGTH:
        faults.append(f"{len(subject)} characters, more than {MAX_LENGTH}")
    if not word:
        faults.append("doesn't begin with a capitalized word")
    elif NOT_IMPERATIVE.search(word) and word not in IMPERATIVE_EXCEPTIONS:
        faults.append(f'"{word}" isn\'t imperative')
    if subject.endswith("."):
        faults.append("ends with a period")
    return faults


def message_faults(message: str) -> list[str]:
    """Returns the faults of a new message's subject; none for a commit that a rebase will absorb."""
    subject = next((line for line in message.splitlines() if line.strip() and not line.startswith("#")), "")
    return [] if subject.startswith(_AUTOSQUASH) else subject_faults(subject)


def commit_subjects(root: Path) -> SubjectReport:
    """Returns the commits since the last release whose subjects break the rules, or why they can't be checked."""
    shallow = git_output(root, "rev-parse", "--is-shallow-repository")
    if shallow is None:
        return _unchecked("this is no checkout of git")
    if shallow == "true":
        return _unchecked("this clone is shallow")
    release = last_release(root)
    if release is None or (listed := _subjects(root, f"{release}..HEAD")) is None:
        return _unchecked("the commit of the last release is unknown")
    added = git_output(root, "log", "--diff-filter=A", "--format=%H", "--", _THIS_FILE)
    rule = added.splitlines()[-1] if added else ""
    bound = (_subjects(root, "--ancestry-path", f"{rule}..HEAD") if rule else None) or {}
    report = SubjectReport()
    for commit, subject in listed.items():
        if faults := subject_faults(subject):
            line = f"{commit} {subject} ({'; '.join(faults)})"
            (report.failures if commit in bound else report.warnings).append(line)
    return report


def last_release(root: Path) -> str | None:
    """Returns the newest tag `v…` among HEAD's ancestors, else the commit that CHANGELOG.md names first."""
    if tag := git_output(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"):
        return tag
    changelog = root / "CHANGELOG.md"
    found = _RELEASE_COMMIT.search(changelog.read_text(encoding="utf-8")) if changelog.exists() else None
    return found["commit"] if found else None


def _unchecked(reason: str) -> SubjectReport:
    return SubjectReport(unchecked=f"Commit subjects aren't checked: {reason}.")


def _subjects(root: Path, *revisions: str) -> dict[str, str] | None:
    """Returns short names and subjects of commits, the newest first; None if git doesn't know a revision."""
    found = git_output(root, "log", "--no-merges", "--format=%h%x00%s", *revisions)
    if found is None:
        return None
    return dict(line.split("\0", 1) for line in found.splitlines())
