"""`sbom`: the contents of the package as CycloneDX documents, one for Python and one for the dashboard.

Two maintained tools create them, both pinned by the lock files: cyclonedx-py from the wheels in the package, and npm
from the dashboard's lock file. Times and random numbers are removed, so that the documents are reproducible.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from local.dev.packaging import wheels
from local.dev.setup.install import prepare
from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say, step

PYTHON_DOCUMENT = "dist/batchscope-python.cdx.json"
WEB_DOCUMENT = "dist/batchscope-web.cdx.json"
OPTIONS = ("--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON", "--mc-type", "application")
NPM = ("sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application")
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1], encoding="utf-8").read()
sys.exit(JsonStrictValidator(SchemaVersion.from_version(sys.argv[2])).validate_str(text))
"""
type Document = dict[str, Any]


def sbom(checkout: Checkout) -> int:
    """Writes both documents."""
    prepare(checkout)
    dependencies = wheels.download(checkout)
    with step(f"listing {PYTHON_DOCUMENT}"):
        write(checkout, PYTHON_DOCUMENT, python_document(checkout, dependencies))
    with step(f"listing {WEB_DOCUMENT}"):
        write(checkout, WEB_DOCUMENT, web_document(checkout))
    return 0


def write(checkout: Checkout, name: str, document: Document) -> None:
    """Writes a document and validates it against CycloneDX's schema. Raises Failure."""
    path = checkout.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    _output((str(checkout.python), "-c", VALIDATE, str(path), document["specVersion"]), cwd=checkout.root)
    say(f"{len(document['components'])} components ... ", end="")


def python_document(checkout: Checkout, dependencies: Sequence[Path]) -> Document:
    """Returns the document of the wheels, each with its licence, its hash and its dependencies."""
    with tempfile.TemporaryDirectory() as folder:
        for wheel in dependencies:
            _unpack_metadata(wheel, Path(folder))
        # Without `site`, the Python whose packages are listed has only those in the folder.
        asked = ("-m", "cyclonedx_py", "environment", "-S", *OPTIONS, "--pyproject", "pyproject.toml", sys.executable)
        text = _output((str(checkout.python), *asked), cwd=checkout.root, environment={"PYTHONPATH": folder})
    document: Document = json.loads(text)
    hashes = {_key(wheel.name): hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in dependencies}
    for component in document["components"]:
        found = hashes[wheels.normalized_name(component["name"]), component["version"]]
        component["hashes"] = [{"alg": "SHA-256", "content": found}]
    _depend(document, (checkout.root / "requirements.in").read_text(encoding="utf-8").split())
    return document


def _unpack_metadata(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if ".dist-info/" in name])


def _depend(document: Document, names: Sequence[str]) -> None:
    """Adds the packages of these names to the app's dependencies."""
    root = document["metadata"]["component"]["bom-ref"]
    refs = {wheels.normalized_name(each["name"]): each["bom-ref"] for each in document["components"]}
    entries = {each["ref"]: each for each in document["dependencies"]}
    entries[root]["dependsOn"] = sorted(refs[wheels.normalized_name(name)] for name in names)


def _key(wheel: str) -> tuple[str, str]:
    """Returns name and version from a wheel's file name."""
    package, version, *_ = wheel.split("-")
    return wheels.normalized_name(package), version


def web_document(checkout: Checkout) -> Document:
    """Returns the document of the dashboard's packages, including those that only its build needs."""
    text = _output((str(checkout.node), str(checkout.npm_program), *NPM), cwd=checkout.web)
    document: Document = json.loads(text)
    document.pop("serialNumber", None)
    document["metadata"].pop("timestamp", None)
    document["metadata"]["component"]["name"] = json.loads((checkout.web / "package.json").read_text())["name"]
    return document


def _output(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """Returns the output of a tool. Raises Failure with the tool's own message."""
    given = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command[1:4])} failed: {done.stderr.strip()[-800:]}")
    return done.stdout
