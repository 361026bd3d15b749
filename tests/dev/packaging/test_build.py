"""The deployed files, and the ones left out."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from local.dev.checking.pins import logical_lines
from local.dev.packaging import wheels
from local.dev.packaging.build import DEPLOYED, contents, deployed_files, ignore_patterns, is_ignored, write_archive
from local.dev.system.checkout import HERE
from local.dev.system.console import Failure

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
from local.dev.packaging.build import contents, write_archive
app = Path(sys.argv[1])
write_archive(app / "dist/app.zip", contents(app, sorted(app.glob("*.whl"))))
"""


def built(app: Path, name: str = "app.zip") -> Path:
    write_archive(app / "dist" / name, contents(app, sorted(app.glob("*.whl"))))
    return app / "dist" / name


def wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for name in ("functions/api/jobs.py", "functions/__pycache__/a.pyc", "shared/.secret", "web/dist/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for name in ("host.json", "function_app.py", "requirements.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".funcignore").write_bytes((HERE.root / ".funcignore").read_bytes())
    return tmp_path


def test_only_files_of_the_app_are_packed(app: Path) -> None:
    names = [path.relative_to(app).as_posix() for path in deployed_files(app)]
    assert sorted(names) == [
        "function_app.py",
        "functions/api/jobs.py",
        "host.json",
        "requirements.txt",
        "web/dist/index.html",
    ]


def test_dependencies_stand_where_azure_functions_looks_for_them(app: Path) -> None:
    wheel(app, "lib", {"lib/__init__.py": "", "lib/__pycache__/a.pyc": "", "lib-1.0.dist-info/RECORD": "x"})
    wheel(app, "native", {"native-1.0.data/platlib/native/a.so": "", "native-1.0.data/scripts/run": "#!python"})
    with zipfile.ZipFile(built(app)) as archive:
        names = [name for name in archive.namelist() if name.startswith(".python_packages")]
    assert names == [
        ".python_packages/lib/site-packages/lib/__init__.py",
        ".python_packages/lib/site-packages/native/a.so",
        ".python_packages/lib/site-packages/lib/__pycache__/__init__.cpython-313.pyc",
    ]


def test_two_wheels_that_disagree_about_a_file_are_named(app: Path) -> None:
    wheel(app, "one", {"azure/__init__.py": "a = 1"})
    assert built(app).exists()
    wheel(app, "two", {"azure/__init__.py": "a = 2"})
    with pytest.raises(Failure, match=r"two-1\.0.* and one-1\.0.* hold different files named azure/__init__\.py"):
        built(app)


@pytest.mark.usefixtures("dashboard")
def test_two_builds_in_other_folders_at_other_times_are_the_same_to_the_byte(tmp_path: Path) -> None:
    """Builds this app's own files, in processes with different hashes and other modules."""
    hashes = set()
    for place, (seed, other) in enumerate((("1", ""), ("2", "import asyncio, sqlite3, xml.dom"))):
        folder = tmp_path / f"checkout-{place}"
        for path in deployed_files(HERE.root):
            copy = folder / path.relative_to(HERE.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            os.utime(copy, (1e9 + place * 1e8, 1e9 + place * 1e8))
            copy.chmod(0o600 + place * 0o044)
        shutil.copy(HERE.root / ".funcignore", folder)
        wheel(folder, "lib", {"lib/a.py": "STATES = 1 in {'a', 'b', 'c', 'd'}\n", "lib/b.so": "native"})
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{place}"}
        command = [sys.executable, "-c", f"{other}\n{MADE}", str(folder)]
        subprocess.run(command, cwd=HERE.root, env=environment, check=True)
        hashes.add(hashlib.sha256((folder / "dist/app.zip").read_bytes()).hexdigest())
    assert len(hashes) == 1
    assert zipfile.ZipFile(folder / "dist/app.zip").testzip() is None


def test_no_dependency_is_for_some_systems_only() -> None:
    """pip evaluates such a condition for the build machine, not for the app's."""
    requirements = logical_lines((HERE.root / "requirements.txt").read_text().splitlines())
    conditions = [line.split(" ; ")[1].split(" --hash")[0] for line in requirements if " ; " in line]
    assert all(re.fullmatch(r"(platform_python_)?implementation.*", text) for text in conditions), conditions


def test_only_wheels_are_taken_and_only_by_their_hashes() -> None:
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= {*wheels.DOWNLOAD}
    pairs = list(zip(wheels.TARGET[::2], wheels.TARGET[1::2], strict=True))
    assert ("--python-version", (HERE.root / ".python-version").read_text().strip()) in pairs
    assert all(value.endswith("x86_64") for name, value in pairs if name == "--platform")


def test_python_uses_packaged_bytecode_regardless_of_file_times(app: Path) -> None:
    (app / "function_app.py").write_text("import functions.api.jobs\n")
    (app / "functions/api/jobs.py").write_text("def job(): pass\n")
    built(app)
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
        built(app)


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
