"""The report of the proof, and its section in docs/proofs.md."""

from datetime import UTC, datetime

from local.prove.exactness.cycles import Findings
from local.prove.exactness.report import Run, rows, text, with_section


def _run() -> Run:
    findings = Findings(cycles=2, compared=12, wrong=["a"], rounds=[0, 1, 1], begun=[1, 2])
    began = datetime(2026, 1, 5, tzinfo=UTC)
    return Run("dev.py prove exact", began, 90, 2, findings, {"all": 8, "amid": 3}, {"succeeded": 4}, {}, [])


def test_figures_tell_what_was_wrong_and_how_many_rounds_it_took() -> None:
    figures = dict(rows(_run()))
    assert figures["**wrong exact counts**"] == "**1**"
    assert figures["rounds to exact: jobs"] == "0: 1, 1: 2"
    assert figures["hosts killed"] == "8, 3 of them amid a poll on demand"
    assert figures["changes"] == "none"
    assert "*" not in text(_run())


def test_the_section_is_added_to_what_there_is() -> None:
    assert with_section("", "## exact\nnew\n").startswith("# Proofs\n")
    assert with_section("# Proofs\n\n## other\nx\n", "## exact\nnew\n") == "# Proofs\n\n## other\nx\n\n## exact\nnew\n"


def test_the_section_is_replaced_and_others_stay() -> None:
    before = "# Proofs\n\n## exact\nold\n\n## other\nx\n"
    assert with_section(before, "## exact\nnew\n") == "# Proofs\n\n## exact\nnew\n\n## other\nx\n"
    assert with_section("# Proofs\n\n## exact\nold\n", "## exact\nnew\n") == "# Proofs\n\n## exact\nnew\n"
