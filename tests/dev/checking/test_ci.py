"""CI accepts only the skips that are listed."""

import subprocess
import sys
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE

REPORT = """<testsuites><testsuite><testcase classname="tests.a" name="test_b">{}</testcase></testsuite></testsuites>"""


def judged(tmp_path: Path, outcome: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "report.xml").write_text(REPORT.format(outcome))
    (tmp_path / "allowed.txt").write_text("# a comment\n^no browser here$\n")
    command = [sys.executable, str(HERE.root / ".ci/skips.py"), "report.xml", "allowed.txt"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("outcome", "exit_code", "said"),
    [
        ("", 0, ""),
        ('<skipped message="no browser here"/>', 0, "allowed skip: tests.a::test_b: no browser here"),
        ('<skipped message="no browser here today"/>', 1, "NOT ALLOWED skip: tests.a::test_b: no browser here today"),
    ],
)
def test_a_skip_must_be_on_the_list(tmp_path: Path, outcome: str, exit_code: int, said: str) -> None:
    done = judged(tmp_path, outcome)
    assert done.returncode == exit_code
    assert said in done.stdout


def test_a_missing_report_fails(tmp_path: Path) -> None:
    done = judged(tmp_path, "")
    command = [*done.args[:2], "nothing.xml", "allowed.txt"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1
