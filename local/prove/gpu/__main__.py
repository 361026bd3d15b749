"""Proves that the agent measures an NVIDIA GPU rightly, on a machine with a real driver, alone and without network.

Two tasks use the GPU in a known way for about 90 seconds while the agent's collectors run; nvidia-smi, CUDA and the
tasks' own records judge. Needs the standard library of Python 3.8 or later, so it also runs as
`python3 -m local.prove.gpu` in a bare checkout. Exit codes: 0 if all bars held, 1 if one didn't, 2 without a driver.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Sequence

from local.prove.gpu.plan import PLAN, STUB_PLAN
from local.prove.gpu.report import findings_of, is_proved, section, text
from local.prove.gpu.run import run
from local.prove.gpu.smi import Raw, find_smi
from local.prove.gpu.stub import StubError, build, known_answers
from local.prove.reporting.proofs_page import write_section

MEASURED_PATHS = ("agent/devices",)
_RAW, _TABLE = "gpu.json", "gpu.md"
_NO_DRIVER = 2
_UNKNOWN = re.compile(r"commit \S+")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if isinstance(options.write, Path):
        raw: Raw | None = json.loads(options.write.read_text(encoding="utf-8"))
    else:
        raw = _stub_run() if options.stub else run(PLAN, find_smi(), workload=True)
    if raw is None:
        return _NO_DRIVER
    if options.commit:
        raw["machine"]["version"] = _UNKNOWN.sub(f"commit {options.commit}", raw["machine"]["version"])
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / _RAW).write_text(json.dumps(raw, default=str) + "\n", encoding="utf-8")
    missing = missing_driver(raw)
    if missing:
        print(missing)
        return _NO_DRIVER
    findings = findings_of(raw)
    print(text(findings))
    if options.out:
        (options.out / _TABLE).write_text(section(raw, findings), encoding="utf-8")
    if options.write:
        write_section("gpu", section(raw, findings))
    return 0 if is_proved(findings) else 1


def missing_driver(raw: Raw) -> str:
    """Returns a sentence if there is no driver here: the agent found none, and nvidia-smi has no GPU either."""
    notes: Raw = next((line["notes"] for line in raw["agent"] if line["kind"] == "notes"), {})
    has_gpu = bool((raw.get("smi") or {}).get("gpus"))
    return "" if has_gpu or "nvidia" not in notes else str(notes["nvidia"])


def _stub_run() -> Raw | None:
    with tempfile.TemporaryDirectory(prefix="gpu-stub-") as folder:
        try:
            build(Path(folder))
        except StubError as error:
            print(error)
            return None
        raw = run(STUB_PLAN, None, workload=False, library=Path(folder))
    raw["smi"] = known_answers(raw["phases"])
    return raw


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py prove gpu", description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, metavar="FOLDER", help=f"write all raw values as {_RAW} and the table as {_TABLE} there")
    add("--stub", action="store_true", help="with the stub of NVML that the tests build, without a workload")
    add("--commit", metavar="HASH", help="the commit of this checkout, where git can't say it")
    add(
        "--write", type=Path, nargs="?", const=True, default=None, metavar="RAW",
        help=f"write the section 'gpu' of docs/proofs.md, from this run or from an earlier one's {_RAW}",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
