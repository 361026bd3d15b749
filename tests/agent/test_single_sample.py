"""The agent's one sample without any upload."""

import os
import subprocess
import sys
from pathlib import Path

from agent.single_sample import single_sample
from tests.agent.fake_node import SteppedClock, fake_node

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9"


class LosingClock(SteppedClock):
    """A clock by whose first sleep a file of the node goes."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._file.unlink(missing_ok=True)


def test_a_collector_that_fails_costs_a_sample_only_its_own_records(tmp_path: Path) -> None:
    log: list[str] = []
    clock = LosingClock(tmp_path / "proc/meminfo")
    lines = single_sample(fake_node(tmp_path), clock, {}, log.append, imds=NOWHERE, seconds=10.0)
    assert "\nsystem load1=0.5" in lines
    assert [message.partition(":")[0] for message in log] == ["The collector memory failed"]


def test_a_sample_leaves_no_file_behind_and_needs_no_storage(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "agent", "once", f"--imds={NOWHERE}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nsystem load1=" in done.stdout
    assert list(tmp_path.iterdir()) == []
