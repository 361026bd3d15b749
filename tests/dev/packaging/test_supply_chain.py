"""The package's contents and their licences are listed; licences that nobody has read are named."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from local.dev.checking.licences import PAGE, licence_faults, page, web_licences
from local.dev.packaging.sbom import Document, python_document, web_document, write
from local.dev.system.checkout import HERE, Checkout
from local.dev.system.console import Failure

METADATA = "Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: MIT\nRequires-Dist: {needs}\n"


def wheel(folder: Path, name: str, needs: str = "nothing") -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{name}-1.0.dist-info/METADATA"), METADATA.format(name=name, needs=needs))
        archive.writestr(zipfile.ZipInfo(f"{name}.py"), "")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Checkout:
    """Creates a checkout with two dependencies, the tools of this one, and the dashboard's lock file."""
    for name in ("pyproject.toml", "web/package.json", "web/package-lock.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE.root / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(HERE.venv)
    (tmp_path / "requirements.in").write_text("some-lib\n")
    return Checkout(tmp_path)


def schema_faults(document: Document) -> object:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - a second of imports for these tests only
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    validator = JsonStrictValidator(SchemaVersion.from_version(document["specVersion"]))
    return validator.validate_str(json.dumps(document))


def test_wheels_are_listed_with_hash_licence_and_dependencies(small: Checkout) -> None:
    wheels = [wheel(small.root, "other"), wheel(small.root, "some_lib", needs="other")]
    document = python_document(small, wheels)
    assert schema_faults(document) is None
    assert [each["name"] for each in document["components"]] == ["other", "some_lib"]
    assert all(len(each["hashes"][0]["content"]) == 64 for each in document["components"])
    assert document["components"][0]["licenses"][0]["license"]["id"] == "MIT"
    needs = {each["ref"]: each.get("dependsOn", []) for each in document["dependencies"]}
    assert needs["some_lib==1.0"] == ["other==1.0"]
    assert needs[document["metadata"]["component"]["bom-ref"]] == ["some_lib==1.0"]
    assert python_document(small, wheels) == document


def test_the_dashboards_packages_are_listed_with_their_hashes(small: Checkout) -> None:
    document = web_document(small)
    assert schema_faults(document) is None
    listed = {each["name"]: each for each in document["components"]}
    assert listed["preact"]["hashes"][0]["alg"] == "SHA-512"
    locked = {name.partition(",")[0] for name, _, _ in web_licences(HERE.root)}
    assert len(listed) == len({name.rpartition("/")[2] for name in locked})
    assert "registry" not in json.dumps(document)


def test_a_document_that_is_not_cyclonedx_is_refused(small: Checkout) -> None:
    with pytest.raises(Failure, match="failed"):
        write(small, "dist/bom.json", {"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"name": 1}]})


def test_the_page_of_licences_is_up_to_date_and_all_were_read() -> None:
    assert list(licence_faults(HERE)) == []


def test_a_licence_that_nobody_has_read_is_named(tmp_path: Path) -> None:
    for name in ("requirements.txt", "web/package-lock.json", PAGE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE.root / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(HERE.venv)
    checkout, path = Checkout(tmp_path), tmp_path / "web/package-lock.json"
    assert list(licence_faults(checkout)) == []
    lock = json.loads(path.read_text())
    lock["packages"]["node_modules/preact"]["license"] = "AGPL-3.0-only"
    path.write_text(json.dumps(lock))
    named, stale = licence_faults(checkout)
    assert named.startswith("preact has the licence 'AGPL-3.0-only'")
    assert stale.startswith("docs/licences.md isn't what the installed packages say")
    (tmp_path / PAGE).write_text(page(checkout))
    assert len(list(licence_faults(checkout))) == 1
