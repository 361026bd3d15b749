"""What is deployed, and what is not."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from local.dev.build import DEPLOYED, deployed_files, ignore_patterns, is_ignored, write_archive
from local.dev.checkout import HERE
from local.dev.console import Failure


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for name in ("functions/api/jobs.py", "functions/__pycache__/a.pyc", "shared/.secret", "web/dist/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for name in ("host.json", "function_app.py", "requirements.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".funcignore").write_bytes((HERE.root / ".funcignore").read_bytes())
    return tmp_path


def test_only_what_the_app_needs_is_packed(app: Path) -> None:
    names = [path.relative_to(app).as_posix() for path in deployed_files(app)]
    assert sorted(names) == [
        "function_app.py",
        "functions/api/jobs.py",
        "host.json",
        "requirements.txt",
        "web/dist/index.html",
    ]


def test_the_same_files_give_the_same_bytes(app: Path) -> None:
    archives = [app / "dist/first.zip", app / "dist/second.zip"]
    for archive in archives:
        write_archive(archive, app, list(deployed_files(app)))
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert zipfile.ZipFile(archives[0]).testzip() is None


def test_a_missing_part_is_named(app: Path) -> None:
    (app / "host.json").unlink()
    with pytest.raises(Failure, match=r"host\.json is missing"):
        list(deployed_files(app))


def test_a_negated_pattern_is_refused(app: Path) -> None:
    (app / ".funcignore").write_text("*.md\n!README.md\n")
    with pytest.raises(Failure, match="negations are not supported"):
        ignore_patterns(app / ".funcignore")


def test_the_ignore_file_alone_keeps_everything_else_of_the_repository_out() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=HERE.root, capture_output=True, text=True, check=False
    )
    if listing.returncode != 0:
        pytest.skip("this is not a git checkout, so there is no list of its files")
    patterns = ignore_patterns(HERE.root / ".funcignore")
    left = {name for name in listing.stdout.splitlines() if not is_ignored(name, patterns)}
    assert {name for name in left if not name.startswith(DEPLOYED)} == set()
