"""The report of a run: its findings as a table for the terminal and docs/proofs.md."""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

from local.prove.gpu.finding import Finding
from local.prove.gpu.judging.costs import judge_costs, query_times
from local.prove.gpu.judging.load import judge_load
from local.prove.gpu.judging.nvlink import judge_nvlink
from local.prove.gpu.judging.tasks import judge_tasks
from local.prove.gpu.judging.values import judge_driver, judge_values
from local.prove.gpu.samples import Samples

_HEAD = ("figure", "agent", "judge", "bar", "verdict")
_WHAT = """
The agent measures a GPU while two tasks use it in a known way: they allocate memory, run kernels without a pause, for
half of the time, and by turns, and end. A third task leaves the GPU alone. `nvidia-smi`, CUDA and
the records of the tasks judge its figures.
"""


def findings_of(raw: Mapping[str, Any]) -> list[Finding]:
    """Returns all verdicts on a run."""
    samples = Samples(dict(raw))
    found = [judge_driver(samples), *judge_values(samples), judge_nvlink(samples)]
    if raw["workload"]:
        found += [*judge_load(samples), *judge_tasks(samples)]
    if raw.get("fault"):
        found.append(Finding("the proof itself", "", "", "no fault", ok=False, note=raw["fault"].splitlines()[-1]))
    return [*found, *judge_costs(samples)]


def is_proved(findings: Sequence[Finding]) -> bool:
    return all(finding.ok is not False for finding in findings)


def text(findings: Sequence[Finding]) -> str:
    """Returns the table for the terminal."""
    rows = [_HEAD, *map(_cells, findings)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip() for row in rows]
    judged, failed = [one for one in findings if one.ok is not None], [one.name for one in findings if one.ok is False]
    verdict = f"Not ok: {'; '.join(failed)}." if failed else "All of them hold."
    return "\n".join([*lines, f"{len(judged)} of {len(findings)} figures were judged. {verdict}"])


def section(raw: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    """Returns the report for docs/proofs.md."""
    samples, machine = Samples(dict(raw)), raw["machine"]
    date = time.strftime("%Y-%m-%d", time.gmtime(raw["began"]))
    where = f"{samples.tags.get('name', 'no GPU')}, {machine['kernel']}, Python {machine['python']}"
    command = "dev.py prove gpu --stub" if raw["stub"] else "dev.py prove gpu"
    head = f"`{command}` on {date}, {machine['version']}, {where}:"
    times = _table(("query of NVML", "ms", "most", "last answer"), query_times(samples))
    return f"{_WHAT}\n{head}\n\n{_table(_HEAD, map(_cells, findings))}\n\n{times}\n"


def _cells(one: Finding) -> Sequence[str]:
    mark = {True: "ok", False: "NOT OK", None: "not judged"}[one.ok]
    return (one.name, one.agent, one.judge, one.bar, f"{mark}: {one.note}" if one.note else mark)


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)])
