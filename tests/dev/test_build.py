"""What is deployed, and what is not."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from local.dev.build import DEPLOYED, deployed_files, ignore_patterns, is_ignored, write_archive
from local.dev.checkout import HERE
from local.dev.console import Failure

COMPILED = """
import json, os, sys
compiled = []
sys.addaudithook(lambda event, given: compiled.append(given[1]) if event == "compile" else None)
import function_app
own = [name for name in compiled if str(name).startswith(os.getcwd())]
print(json.dumps({"compiled": own, "name": sys.modules["functions.api.jobs"].job.__code__.co_filename}))
"""
MADE = """
import sys
from pathlib import Path
from local.dev.build import deployed_files, write_archive
app = Path(sys.argv[1])
write_archive(app / "dist/app.zip", app, list(deployed_files(app)))
sys.stdout.buffer.write((app / "dist/app.zip").read_bytes())
"""


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


def test_python_takes_the_bytecode_of_the_package_whatever_the_times_say(app: Path) -> None:
    (app / "function_app.py").write_text("import functions.api.jobs\n")
    (app / "functions/api/jobs.py").write_text("def job(): pass\n")
    write_archive(app / "dist/app.zip", app, list(deployed_files(app)))
    mounted = app / "mounted"
    with zipfile.ZipFile(app / "dist/app.zip") as archive:
        archive.extractall(mounted)
    for path in mounted.rglob("*.py"):
        os.utime(path, (0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", COMPILED], cwd=mounted, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {"compiled": [], "name": str(mounted / "functions/api/jobs.py")}


def test_a_source_that_does_not_compile_is_named(app: Path) -> None:
    (app / "functions/api/jobs.py").write_text("def job(:\n")
    with pytest.raises(Failure, match=r"functions/api/jobs\.py doesn't compile"):
        write_archive(app / "dist/app.zip", app, list(deployed_files(app)))


def test_the_bytecode_is_the_same_in_every_process(app: Path) -> None:
    """Sets in the code are in the order of hashes, which differ from process to process."""
    (app / "functions/api/jobs.py").write_text("STATES = 1 in {'a', 'b', 'c', 'd', 'e', 'f'}\n")
    made = {
        subprocess.run(
            [sys.executable, "-c", MADE, str(app)],
            cwd=HERE.root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(made) == 1


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
