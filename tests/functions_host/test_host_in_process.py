import json
import os
import subprocess
import sys
from pathlib import Path

from tests.functions_host.running_host import ROOT, SAMPLE


def test_an_app_runs_in_a_test_without_a_socket(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text("{}")
    (tmp_path / "function_app.py").write_text("")
    record = tmp_path / "records"
    script = Path(__file__).parent / "in_process_check.py"
    done = subprocess.run(
        [sys.executable, script, SAMPLE, tmp_path],
        env={**os.environ, **environment, "SAMPLE_RECORD": str(record), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["get"] == [200, "constrained 7"]
    assert (seen["echo"]["body"], seen["echo"]["query"], seen["echo"]["route"]) == ("hi", {"x": "1"}, {"rest": "a"})
    assert (seen["missing"], seen["boom"]) == (404, 500)
    assert seen["fail"] == "work: RuntimeError: the sample can't do that"
    assert (seen["sync"], seen["again"]) == ("hello you", "hello nobody")
    assert seen["unsent"] == 500
    assert "one process runs one app" in seen["other"]
    records = [json.loads(line) for line in record.read_text().splitlines()]
    assert records[0]["past_due"] is True
    assert (records[1]["text"], records[1]["dequeue_count"]) == ("hello", 3)
