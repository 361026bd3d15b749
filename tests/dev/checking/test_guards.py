from pathlib import Path

import pytest

from local.dev.checking.guards import Importers, guards, guards_of, importers_of
from local.dev.system.checkout import HERE, Checkout
from local.dev.system.console import Failure


@pytest.fixture(scope="module")
def importers() -> Importers:
    return importers_of(HERE.root)


def test_tests_that_reach_a_module_through_a_world_guard_it(importers: Importers) -> None:
    found = guards_of("shared.domain.reads.read_plans", importers)
    assert {"tests.services.mutants.test_mutants", "tests.services.reading.test_long_reads"} <= found


def test_every_module_below_the_functions_is_guarded(importers: Importers) -> None:
    files = [file.relative_to(HERE.root) for file in (HERE.root / "shared").rglob("*.py")]
    modules = {".".join(file.with_suffix("").parts) for file in files if file.name != "__init__.py"}
    assert {module for module in modules if not guards_of(module, importers)} == set()


def test_a_module_that_no_test_imports_is_guarded_by_the_tests_of_those_that_do(tmp_path: Path) -> None:
    for name, text in {
        "shared/deep.py": "",
        "shared/near.py": "from shared import deep",
        "tests/world.py": "import shared.near",
        "tests/test_story.py": "from tests.world import World",
        "tests/test_other.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert guards_of("shared.deep", importers_of(tmp_path)) == {"tests.test_story"}


@pytest.mark.parametrize("path", ["function_app.py", "functions/http/rendering.py", "functions/api/jobs/jobs.py"])
def test_tests_that_run_the_whole_app_guard_its_functions_whichever_tests_import_them(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guards(HERE, str(HERE.root / path)) == 0
    assert "tests/functions and tests/e2e run the whole app" in capsys.readouterr().out


def test_tests_of_a_files_own_subject_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert guards(HERE, str(HERE.root / "shared/stores/pools/node_json.py")) == 0
    assert capsys.readouterr().out.startswith("tests/stores/pools/test_pool_rows.py\n")


def test_a_proof_that_no_test_imports_is_guarded_by_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert guards(HERE, str(HERE.root / "local/prove/soak/asking.py")) == 0
    assert capsys.readouterr().out == "No test runs it.\n"


def test_what_is_no_module_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"README\.md is no Python file of this checkout"):
        guards(Checkout(tmp_path), "README.md")
