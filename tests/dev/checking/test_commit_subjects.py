"""The subjects of commits that are refused, and the commit from which the rule applies."""

import subprocess
from pathlib import Path

import pytest

from local.dev.checking import checks
from local.dev.checking.commit_subjects import commit_subjects, subject_faults
from local.dev.system.checkout import HERE, Checkout

RULE = "local/dev/checking/commit_subjects.py"
LONG = "Describe everything that this commit changes at once, and then a little more"


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path, subject: str, file: str = "", text: str = "") -> str:
    """Creates a commit, with a file if one is named; returns its short name."""
    if file:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
        git(root, "add", file)
    git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return git(root, "rev-parse", "--short", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Creates a release whose commit the changelog names, one long subject after it, and then the rule."""
    git(tmp_path, "init", "-q", "-b", "main")
    release = commit(tmp_path, "first subject of all.")
    commit(tmp_path, "Write the changelog", "CHANGELOG.md", f"# Changelog\n\n## 0.1.0\nCommit {release}, 2026-11-23.\n")
    commit(tmp_path, LONG)
    commit(tmp_path, "Check subjects", RULE)
    return tmp_path


@pytest.mark.parametrize(
    "subject",
    [
        "Say why",
        "Pass over what is done",
        "Bring in the other branch",
        "Need no second request",
        "Re-read the list, then stop",
        "Don't follow links twice",
        f"Add {'x' * 68}",
    ],
)
def test_imperative_subjects_of_72_characters_are_accepted(subject: str) -> None:
    assert subject_faults(subject) == []


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        (f"Add {'x' * 69}", "73 characters, more than 72"),
        ("add a check", "doesn't begin with a capitalized word"),
        ("feat: add a check", "doesn't begin with a capitalized word"),
        ("README: name the check", "doesn't begin with a capitalized word"),
        ("Adds a check", '"Adds" isn\'t imperative'),
        ("Added a check", '"Added" isn\'t imperative'),
        ("Adding a check", '"Adding" isn\'t imperative'),
        ("Add a check.", "ends with a period"),
    ],
)
def test_other_subjects_are_refused_with_the_reason(subject: str, fault: str) -> None:
    assert subject_faults(subject) == [fault]


def test_commits_older_than_the_rule_are_only_named(root: Path) -> None:
    report = commit_subjects(root)
    assert report.failures == []
    (warning,) = report.warnings
    assert warning.endswith(f"{LONG} (76 characters, more than 72)")


def test_commits_that_build_on_the_rule_are_refused(root: Path) -> None:
    bad = commit(root, "Says it all.")
    report = commit_subjects(root)
    assert report.failures == [f'{bad} Says it all. ("Says" isn\'t imperative; ends with a period)']
    assert len(report.warnings) == 1


def test_commits_of_a_branch_from_before_the_rule_are_only_named(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(root, "says it beside", "side.txt")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "merge the side.", "side")
    report = commit_subjects(root)
    assert report.failures == []
    assert len(report.warnings) == 2


def test_a_tag_ends_what_is_looked_at(root: Path) -> None:
    git(root, "tag", "v0.2.0")
    assert commit_subjects(root).warnings == []
    bad = commit(root, "more of it")
    assert [line.split()[0] for line in commit_subjects(root).failures] == [bad]


def test_a_shallow_clone_is_named_in_one_line(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", "--depth", "1", root.as_uri(), str(clone))
    assert commit_subjects(clone).unchecked == "Commit subjects aren't checked: this clone is shallow."


def test_a_folder_without_git_or_without_a_known_release_is_named_in_one_line(root: Path, tmp_path: Path) -> None:
    commit(root, "Forget the release", "CHANGELOG.md", "# Changelog\n\n## 0.1.0\nCommit 0123abc, 2026-11-23.\n")
    assert commit_subjects(root).unchecked.endswith("the commit of the last release is unknown.")
    (tmp_path / ".git").rename(tmp_path / "no-git")
    assert commit_subjects(tmp_path).unchecked.endswith("this is no checkout of git.")


@pytest.mark.parametrize(("subject", "code"), [("Say it", 0), ("say it", 1)])
def test_check_fails_by_commits_that_build_on_the_rule_and_names_the_others(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], subject: str, code: int
) -> None:
    monkeypatch.setattr(checks, "prepare", lambda *_, **__: None)  # skips the tools themselves
    monkeypatch.setattr(checks, "_tool", lambda _checkout, title, *_: checks.Check(title, str))
    monkeypatch.setattr(checks, "stale_locks", lambda _: [])
    monkeypatch.setattr(checks, "glossary_faults", lambda _: [])
    commit(root, subject)
    assert checks.check(Checkout(root)) == code
    said = capsys.readouterr().out
    assert "Commit subjects that are older than their rules:\n  " in said
    assert ("doesn't begin with a capitalized word" in said) == bool(code)


def test_fast_runs_ruff_and_the_subjects_only_and_biome_where_it_is_installed(tmp_path: Path) -> None:
    titles = [planned.title for planned in checks.fast_checks(Checkout(tmp_path))]
    assert titles == ["ruff check", "ruff format --check", "commit subjects"]
    assert {*titles} < {planned.title for planned in checks.checks(HERE)}
    biome = tmp_path / "web" / checks.BIOME
    biome.parent.mkdir(parents=True)
    biome.touch()
    assert [planned.title for planned in checks.fast_checks(Checkout(tmp_path))] == [*titles, "biome check"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Say it\n\nThe reason.\n", 0),
        ("# A comment of git's\nsay it\n", 1),
        (f"fixup! {LONG}\n", 0),
        (f"{LONG}\n", 1),
    ],
)
def test_the_message_of_a_commit_in_the_making_is_judged_by_its_subject(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], message: str, code: int
) -> None:
    (tmp_path / "message").write_text(message)
    assert checks.check_message(tmp_path / "message") == code
    assert bool(capsys.readouterr().out) == bool(code)
