"""The report of the proof, and its section in docs/proofs.md."""

from datetime import UTC, datetime

from local.dev.system.checkout import HERE
from local.prove.exact.cycles import Findings
from local.prove.exact.report import Run, rows, section, text


def _run() -> Run:
    findings = Findings(cycles=2, compared=12, beside=30, wrong=["a"], rounds=[0, 1, 1], begun=[1, 2])
    began = datetime(2026, 1, 5, tzinfo=UTC)
    return Run("dev.py prove exact", began, 90, 2, findings, {"all": 8, "amid": 3}, {"succeeded": 4}, {}, [])


def test_figures_include_wrong_answers_and_rounds_to_exact() -> None:
    figures = dict(rows(_run()))
    assert figures["**wrong though exact**"] == "**1**"
    assert figures["exact pools, their nodes and schedules compared"] == "30"
    assert figures["rounds to exact: jobs, pools, nodes, schedules"] == "0: 1, 1: 2"
    assert figures["hosts killed"] == "8, 3 of them amid a poll on demand"
    assert figures["changes"] == "none"
    assert "*" not in text(_run())


def test_the_section_names_the_command_the_version_and_every_figure() -> None:
    markdown = section(_run(), HERE.root)
    assert "`dev.py prove exact`" in markdown
    assert "2026-01-05, version 0." in markdown
    assert all(f"| {name} | {value} |" in markdown for name, value in rows(_run()))
