"""Validates the table of costs in FOCUS 1.2 with focus-validator, in an environment of its own under `.local`.

`python -m local.prove.cost.focus` takes the table of the stack that `python3 dev.py up` runs, `--file` any other. The
validator needs Python 3.12, as it pins a version of numpy that has no wheels for later ones.
"""

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, complain, say
from local.dev.system.shell import run_logged, run_shown

REQUIREMENTS = ("focus-validator==2.2.1", "numpy<2", "pyarrow<22")
"""The validator, which asks for any pyarrow: later ones need a numpy that it excludes."""
_VERSION = "1.2"
_CRITERIA = (
    "ACCOUNT_NAMING_SUPPORTED",
    "USAGE_MEASUREMENT_SUPPORTED",
    "MULTIPLE_PRICING_CATEGORIES_SUPPORTED",
    "BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED",
    "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
    "REGION_SUPPORTED",
)
"""What the table has besides mandatory columns, so that the rules of these columns count."""
_MIN_PASSED = 100
_PYTHON = "3.12"
_PLACES = (
    (Path.home(), ".pyenv/versions/3.12*/bin/python"),
    (Path.home(), ".local/share/uv/python/cpython-3.12*/bin/python3.12"),
    (Path("/"), "usr/local/bin/python3.12"),
    (Path("/"), "usr/bin/python3.12"),
    (Path("/"), "opt/homebrew/bin/python3.12"),
)
_RESULT = re.compile(r"^\S+ ([A-Za-z]+-[A-Z]-\d+-[A-Z]): (PASS|FAIL|SKIPPED) ", re.MULTILINE)
_REASON = re.compile(r"^- ([A-Za-z]+-[A-Z]-\d+-[A-Z]): violations=\d+; (.*)$", re.MULTILINE)
_LINK = re.compile(r"<(.*)>")
_NOTE = HERE.state / "up.json"
_FOLDER = HERE.state / "focus-validator"


def check_focus(csv_path: Path, python: str | None = None) -> list[str]:
    """Returns a line for each rule that a table breaks; none if it is valid.

    A rule that is one of several alternatives counts only if none of these passed: an invoice's id, for example, has to
    be null where there is no invoice, and not null elsewhere, and the validator looks at both for each row. Raises
    Failure if there is no Python for the validator, if it can't be installed, or if it didn't check the table.
    """
    environment = _environment(python)
    command = (str(environment / "bin/focus-validator"), "--data-file", str(csv_path.resolve()))
    options = ("--validate-version", _VERSION, "--block-download", "--applicability-criteria", ",".join(_CRITERIA))
    packages = next((environment / "lib").glob("python*/site-packages"))
    found = run_shown((*command, *options), cwd=packages)  # it opens its currencies by a path relative to this folder
    (model,) = packages.glob(f"focus_validator/rules/model-{_VERSION}.*.json")
    return broken_rules(found.output, json.loads(model.read_text(encoding="utf-8"))["ModelRules"])


def broken_rules(output: str, rules: Mapping[str, Any]) -> list[str]:
    """Returns a line for each broken rule in the validator's output, given its rules. Raises Failure as above."""
    results = dict(_RESULT.findall(output))
    if list(results.values()).count("PASS") < _MIN_PASSED:
        raise Failure(f"The validator didn't check the table; its last lines:\n{output[-2000:]}")
    satisfied = {rule for parent, some in _alternatives(rules) if results.get(parent) == "PASS" for rule in some}
    reasons = dict(_REASON.findall(output))
    failed = (rule for rule, result in results.items() if result == "FAIL" and rule not in satisfied)
    return [f"{rule}: {reasons.get(rule, 'failed')}" for rule in failed]


def _alternatives(rules: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yields rules that pass if one of several others does, with these."""
    for name, rule in rules.items():
        requirement = rule["ValidationCriteria"]["Requirement"]
        if requirement.get("CheckFunction") == "OR":
            yield name, [item["ModelRuleId"] for item in requirement["Items"] if "ModelRuleId" in item]


def _environment(python: str | None) -> Path:
    """Returns the folder of the validator's environment, which is made if it isn't there. Raises Failure."""
    stamp, wanted = _FOLDER / ".stamp", "\n".join(REQUIREMENTS)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return _FOLDER
    interpreter = python or next(_pythons(), None)
    if interpreter is None:
        raise Failure(f"focus-validator needs Python {_PYTHON}: install it, or name one with --python.")
    say(f"Installing {REQUIREMENTS[0]} with {interpreter}.")
    shutil.rmtree(_FOLDER, ignore_errors=True)
    log = HERE.logs / "focus-validator.log"
    run_logged((interpreter, "-m", "venv", str(_FOLDER)), log=log, cwd=HERE.root)
    pip = (str(_FOLDER / "bin/python"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
    run_logged((*pip, *REQUIREMENTS), log=log, cwd=HERE.root)
    stamp.write_text(wanted, encoding="utf-8")
    return _FOLDER


def _pythons() -> Iterator[str]:
    """Yields interpreters of the wanted version."""
    installed = (str(path) for folder, pattern in _PLACES for path in sorted(folder.glob(pattern)))
    found = [shutil.which(f"python{_PYTHON}"), *installed]
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, found):
        answer = run_shown((path, "-c", question), cwd=HERE.root)
        if answer.exit_code == 0 and answer.output.strip() == _PYTHON:
            yield path


async def exported(api: str, account: str) -> str:
    """Returns an account's table of the last 30 days, from all of its pages."""
    url, lines = f"{api}/accounts/{account}/cost/focus", list[str]()
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        while url:
            async with session.get(url) as answer:
                page = (await answer.text()).splitlines(keepends=True)
                link = _LINK.match(answer.headers.get("Link", ""))
            lines += page[1:] if lines else page
            url = link[1] if link else ""
    return "".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.prove.cost.focus", description=__doc__)
    parser.add_argument("--file", type=Path, help="a table to validate in place of the running stack's")
    parser.add_argument("--python", help=f"the Python {_PYTHON} for the validator's environment")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            failures = check_focus(options.file or _running(Path(folder) / "focus.csv"), options.python)
        except Failure as failure:
            complain(str(failure))
            return 1
    say("\n".join(failures) or f"The table is valid by {REQUIREMENTS[0]} for FOCUS {_VERSION}.")
    return 1 if failures else 0


def _running(to: Path) -> Path:
    """Returns the table of the running stack. Raises Failure."""
    if not _NOTE.exists():
        raise Failure("Nothing is running: start `python3 dev.py up` first, or name a table with --file.")
    note = json.loads(_NOTE.read_text(encoding="utf-8"))
    to.write_text(asyncio.run(exported(note["api"], note["batchAccount"])), encoding="utf-8")
    if len(to.read_text(encoding="utf-8").splitlines()) == 1:
        raise Failure("The stack has no costs so far: its usage is rolled up once an hour.")
    return to


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
