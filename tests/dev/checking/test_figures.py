"""Figures in docs that are older than the code they describe."""

import subprocess
from pathlib import Path

import pytest

from local.dev.checking import checks
from local.dev.checking.figures import code_version, measured_paths, old_figures, replaced, script_of
from local.dev.scripts import FOLDERS, script_names
from local.dev.system.checkout import HERE, Checkout

BENCH = 'MEASURED_PATHS = ("shared",)\n'


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path, **files: str) -> str:
    """Creates a commit with some files, whose names have `__` for a slash; returns its short name."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "A change")
    return git(root, "rev-parse", "--short", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    commit(
        tmp_path,
        shared__a_dot_py="a = 1\n",
        bench__delta_dot_py=BENCH,
        local__prove__exact_dot_py=BENCH,
        pyproject_dot_toml='[project]\nversion = "1.2.3"\n',
    )
    return tmp_path


def note(root: Path, measured: str) -> None:
    """Commits figures of both kinds, measured at a commit."""
    of = f"version 0.1.0, commit {measured}, 2026-11-23:"
    figures = f"# Benchmarks\n\n## delta\n<!-- figures of delta -->\n{of}\n\n| 1 |\n<!-- end of figures -->\n\nWords.\n"
    commit(root, docs__benchmarks_dot_md=figures, docs__proofs_dot_md=f"# Proofs\n\n## exact\n{of}\n\n| 2 |\n")


def test_figures_of_the_present_code_are_not_named(root: Path) -> None:
    note(root, git(root, "rev-parse", "--short", "HEAD"))
    commit(root, README_dot_md="Nothing that is measured.\n")
    assert old_figures(root) == []


def test_figures_are_named_once_what_they_measure_has_changed(root: Path) -> None:
    measured = git(root, "rev-parse", "--short", "HEAD")
    note(root, measured)
    commit(root, shared__a_dot_py="a = 2\n")
    changed = f"of commit {measured}, and a later commit has changed what it measures; python3 dev.py"
    assert old_figures(root) == [
        f"docs/benchmarks.md, delta: {changed} bench all --only delta --write measures again.",
        f"docs/proofs.md, exact: {changed} prove exact --write measures again.",
    ]
    commit(root, shared__a_dot_py="a = 3\n")
    assert all(f"of commit {measured}, and 2 later commits have changed" in sentence for sentence in old_figures(root))


def test_docstrings_and_comments_leave_figures_as_they_are(root: Path) -> None:
    """An added or deleted file, another kind of file, or any other change of code makes them old."""
    code = 'class A:\n    def b(self):\n        """{}"""\n        return "{}"  # {}\n\n    c = 1\n    """{}"""\n'
    note(root, commit(root, shared__b_dot_py=code.format("Old.", "text", "old", "Old.")))
    commit(root, shared__b_dot_py='"""A module."""\n\n' + code.format("New.", "text", "new", "New."))
    assert old_figures(root) == []
    kept = commit(root, shared__b_dot_py=code.format("New.", "other text", "new", "New."))
    assert len(old_figures(root)) == 2
    for change in ({"shared__c_dot_py": ""}, {"shared__d_dot_json": "{}"}, {"shared__b_dot_py": "class A:\n"}):
        note(root, kept)
        assert old_figures(root) == []
        commit(root, **change)
        assert len(old_figures(root)) == 2
        kept = git(root, "rev-parse", "--short", "HEAD")


@pytest.mark.parametrize(
    ("measured", "said"),
    [("unknown", "of an unknown commit"), ("0123abc", "of commit 0123abc, which this repository doesn't have")],
)
def test_figures_of_a_commit_that_nobody_knows_are_named(root: Path, measured: str, said: str) -> None:
    note(root, measured)
    assert [said in sentence for sentence in old_figures(root)] == [True, True]


def test_a_shallow_clone_says_that_it_cannot_tell(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    note(root, "0123abc")
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", "--depth", "1", root.as_uri(), str(clone))
    (sentence,) = old_figures(clone)
    assert sentence.endswith("can't be told: this clone is shallow.")


def test_a_folder_without_git_says_that_it_cannot_tell(tmp_path: Path) -> None:
    (sentence,) = old_figures(tmp_path)
    assert sentence.endswith("can't be told: this is no checkout of git.")


def test_figures_of_changes_that_are_not_committed_are_of_their_commit(root: Path) -> None:
    (root / "shared/a.py").write_text("a = 9\n", encoding="utf-8")
    version = code_version(root)
    assert version.startswith("version 1.2.3, commit ")
    assert version.endswith("-dirty")
    note(root, version.rpartition(" ")[2])  # it commits the change, too
    assert all("a later commit has changed" in sentence for sentence in old_figures(root))
    assert len(old_figures(root)) == 2


def test_figures_that_another_run_has_just_written_leave_the_code_as_it_is(root: Path) -> None:
    note(root, "0123abc")
    (root / "docs/benchmarks.md").write_text("Other figures.\n", encoding="utf-8")
    assert not code_version(root).endswith("-dirty")


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_benchmark_and_proof_says_what_it_measures(kind: str) -> None:
    for name in script_names(HERE.root / FOLDERS[kind]):
        if name != "all":
            paths = measured_paths(script_of(HERE.root, kind, name))
            assert paths, name
            assert all((HERE.root / path).exists() for path in paths), name


def test_other_figures_take_the_place_of_the_old_ones_and_leave_all_words() -> None:
    page = "# Benchmarks\n\n## delta\nBefore.\n\n<!-- figures of delta -->\nold\n<!-- end of figures -->\n\nBehind.\n"
    once = replaced(page, "delta", "new\n")
    assert once == page.replace("old", "new")
    both = replaced(once, "cold", "| 1 |")
    assert both == f"{once.rstrip()}\n\n## cold\n<!-- figures of cold -->\n| 1 |\n<!-- end of figures -->\n"
    assert replaced(both, "cold", "| 1 |") == both


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_check_names_old_figures_and_fails_only_if_strict(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, strict: bool, code: int
) -> None:
    monkeypatch.setattr(checks, "prepare", lambda *_, **__: None)  # skips the tools themselves
    monkeypatch.setattr(checks, "checks", lambda _: [])
    note(root, "0123abc")
    assert checks.check(Checkout(root), strict=strict) == code
    assert "docs/proofs.md, exact: of commit 0123abc" in capsys.readouterr().out
    note(root, git(root, "rev-parse", "--short", "HEAD"))
    assert checks.check(Checkout(root), strict=strict) == 0
