"""What only data beside the checkout can tell: types of Azure's resources, and schemas that others publish."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from local.dev.system.checkout import HERE
from tests.infra.breakages.checker import Checker, find_checker, find_conformance

SCHEMAS = {
    "azure.yaml": "azure.yaml.json",
    "host.json": "host.json",
    "infra/bicepconfig.json": "bicepconfig.schema.json",
}


@pytest.fixture(scope="module")
def checker() -> Checker:
    found = find_checker()
    if found is None:
        pytest.skip("no Bicep checker beside this checkout")
    return found


@pytest.fixture(scope="module")
def schemas() -> Path:
    found = find_conformance()
    if found is None:
        pytest.skip("no conformance data beside this checkout")
    return found / "schemas"


def test_the_checker_has_nothing_to_say_with_types_required(checker: Checker) -> None:
    assert checker.complaints(HERE.root) == ""


@pytest.mark.parametrize(("file", "schema"), SCHEMAS.items(), ids=list(SCHEMAS))
def test_a_file_is_of_its_published_schema(schemas: Path, file: str, schema: str) -> None:
    program = Path(sys.executable).with_name(f"check-jsonschema{Path(sys.executable).suffix}")
    command = [str(program), "--schemafile", str(schemas / schema), str(HERE.root / file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_roles_have_the_ids_that_azure_gives_to_their_names(schemas: Path) -> None:
    published = json.loads((schemas / "roles.json").read_text(encoding="utf-8"))
    by_name = {re.sub(r"\W", "", name).lower(): role for name, role in published.items()}
    own = json.loads((HERE.root / "infra/roles.json").read_text(encoding="utf-8"))
    assert {name: by_name.get(name.lower()) for name in own} == own


def test_the_workflows_are_of_the_schema_of_workflows() -> None:
    program = Path(sys.executable).with_name(f"check-jsonschema{Path(sys.executable).suffix}")
    files = [str(path) for path in sorted((HERE.root / ".github/workflows").glob("*.yml"))]
    command = [str(program), "--builtin-schema", "vendor.github-workflows", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert files
    assert done.returncode == 0, done.stdout
