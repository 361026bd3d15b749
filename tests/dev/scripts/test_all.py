"""`bench all` and `prove all`: one table of all measurements and proofs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import all as benches
from bench.report.rows import answer, row
from local.dev.system.checkout import HERE
from local.prove import all as proofs

CODE = benches.Code("version 0.1.0, commit abc1234", "2026-11-23")


def answers(*, is_held: bool) -> list[dict[str, Any]]:
    cold = [row("import", 120.0, "ms CPU", other=(100.0, "alone"), bar=1.5), row("time", 7.0, "ms")]
    api = [row("memory", 200.0 if is_held else 500.0, "MB", bar=400)]
    return [json.loads(answer("cold", cold)), json.loads(answer("api", api))]


def test_all_measures_with_a_bar_form_one_table() -> None:
    assert benches.summary(answers(is_held=True), CODE).splitlines() == [
        "| bench | measure | figure | bar | ok | commit | date |",
        "|---|---|---|---|---|---|---|",
        "| cold | import | 1.2 | 1.5 | ok | abc1234 | 2026-11-23 |",
        "| api | memory | 200 MB | 400 | ok | abc1234 | 2026-11-23 |",
    ]


def test_a_bar_that_is_missed_fails_all() -> None:
    assert benches.is_held(answers(is_held=True))
    assert not benches.is_held(answers(is_held=False))
    assert "| 500 MB | 400 | MISSED |" in benches.summary(answers(is_held=False), CODE)


def test_a_benchmark_that_breaks_fails_all_and_leaves_the_figures_in_docs() -> None:
    broken = benches.run("which-there-is-none-of")
    assert not benches.is_held([broken])
    assert "| which-there-is-none-of | exit code | 1 | 0 | MISSED |" in benches.summary([broken], CODE)
    assert benches.with_figures("# Benchmarks\n", [broken], CODE) == "# Benchmarks\n"


def test_figures_in_docs_bear_commit_day_and_machine() -> None:
    page = "# Benchmarks\n\n## cold\n<!-- figures of cold -->\nold\n<!-- end of figures -->\n"
    (cold, _) = answers(is_held=True)
    written = benches.with_figures(page, [cold], CODE)
    assert f"\nOf version 0.1.0, commit abc1234, 2026-11-23, {cold['machine']}:\n\n| measure |" in written
    assert "| time | 7 ms |" in written
    assert "\nold\n" not in written


def test_all_proofs_are_one_table_and_the_longest_comes_last() -> None:
    found = proofs.summary([proofs.Proof("exact", 0, 9.1), proofs.Proof("soak", 1, 120.3)], "abc1234", "2026-11-23")
    assert found.splitlines()[2:] == [
        "| exact | exit code 0 after 9.1 min | exit code 0 | ok | abc1234 | 2026-11-23 |",
        "| soak | exit code 1 after 120.3 min | exit code 0 | NOT PROVED | abc1234 | 2026-11-23 |",
    ]
    assert proofs.names()[-1] == "soak"
    assert {"exact", "ingest", "clients"} < set(proofs.names())
    assert not {"all", "counts"} & set(proofs.names())


@pytest.mark.parametrize("module", ["bench.all", "local.prove.all"])
def test_names_that_do_not_exist_are_refused(module: str) -> None:
    command = [sys.executable, "-m", module, "--only", "which-there-is-none-of"]
    done = subprocess.run(command, cwd=HERE.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'which-there-is-none-of'" in done.stderr


def test_prove_all_fails_where_one_proof_does(tmp_path: Path) -> None:
    program = """
from local.prove import all as proofs
proofs.names = lambda: ["which-there-is-none-of"]
raise SystemExit(proofs.main())
"""
    command = [sys.executable, "-c", program, "--json", str(tmp_path / "found.json")]
    done = subprocess.run(command, cwd=HERE.root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "| which-there-is-none-of | exit code 1 after 0.0 min | exit code 0 | NOT PROVED |" in done.stdout
    (proof,) = json.loads((tmp_path / "found.json").read_text())["proofs"]
    assert (proof["name"], proof["code"]) == ("which-there-is-none-of", 1)
