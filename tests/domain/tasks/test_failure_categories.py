"""Each failure code that the documentation, the conformance data and the emulator know has exactly one category."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from local.dev.system.checkout import HERE
from shared.domain.tasks.failure_categories import CATEGORIES, category_of, failed_tasks_of, is_known
from shared.domain.tasks.failures import FailureGroup, Failures
from tests.domain.telemetry.decode.published import published

SOURCES = [*(HERE.root / "local/batch_emulator").rglob("*.py"), *(HERE.root / "local/workload").rglob("*.py")]


def codes_of_the_emulator() -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    return set(re.findall(r"(?:Failure|_not_found)\(\s*(?:_USER,\s*|\"\w+error\",\s*)?\"(\w+)\"", text))


def codes_of_events() -> Iterator[str]:
    def within(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for name, part in value.items():
                if name in ("schedulingError", "failureInfo") and part.get("code"):
                    yield part["code"]
                yield from within(part)

    for path in published("batch-events").glob("*Event.json"):
        yield from within(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("code", sorted(codes_of_the_emulator()))
def test_a_code_of_the_emulator_is_known(code: str) -> None:
    assert is_known(code)
    assert category_of(("usererror", code), None) in CATEGORIES[:-1]


def test_the_emulator_s_codes_were_found() -> None:
    assert {"TaskEnded", "FailureExitCode", "BlobNotFound", "ApplicationPackageError"} <= codes_of_the_emulator()


def test_codes_of_documented_events_are_known_in_any_case() -> None:
    codes = set(codes_of_events())
    assert {"FailureExitCode", "BadCommandType", "JobPreparationTaskFailed"} <= codes
    for code in codes:
        assert is_known(code), code
        assert category_of(("UserError", code.upper()), None) == category_of(("usererror", code), None) != "other"


def test_codes_with_advice_are_known() -> None:
    documented = (HERE.root / "shared/domain/tasks/failure_advice.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'^    "(\w+)": ', documented, re.MULTILINE))
    assert len(codes) > 15
    assert [code for code in sorted(codes) if not is_known(code)] == []


@pytest.mark.parametrize(
    ("failure", "exit_code", "category"),
    [
        (("UserError", "FailureExitCode"), 1, "userCode"),
        (("UserError", "FailureExitCode"), 137, "outOfMemory"),
        (("UserError", "FailureExitCode"), -9, "outOfMemory"),
        (("UserError", "TaskEnded"), -9, "timeLimit"),
        (("UserError", "FailureExitCode"), -1073741801, "outOfMemory"),
        (("UserError", "FailureExitCode"), 143, "userCode"),
        (("UserError", "FailureExitCode"), None, "userCode"),
        (("usererror", "TaskEnded"), 137, "timeLimit"),
        (("ServerError", "TaskEnded"), None, "timeLimit"),
        (("usererror", "TaskEnded"), None, "terminated"),
        (("UserError", "DiskFull"), None, "diskFull"),
        (("UserError", "ContainerInvalidImage"), None, "imagePull"),
        (("UserError", "BlobAccessDenied"), None, "identity"),
        (("UserError", "BlobNotFound"), None, "dataAccess"),
        (("UserError", "CommandProgramNotFound"), None, "configuration"),
        (("UserError", "JobPreparationTaskFailed"), None, "dependency"),
        (("ServerError", ""), None, "service"),
        (("", ""), 3, "userCode"),
        (("", ""), None, "other"),
        (("UserError", "SomethingNew"), None, "other"),
        (("ServerError", "SomethingNew"), 137, "other"),
    ],
)
def test_a_failure_has_the_category(failure: tuple[str, str], exit_code: int | None, category: str) -> None:
    assert category_of(failure, exit_code) == category


def test_numbers_by_category_add_up_to_the_failed_tasks() -> None:
    groups = (
        FailureGroup(("UserError", "FailureExitCode"), 1, 5, 0, 0),
        FailureGroup(("UserError", "FailureExitCode"), 2, 3, 0, 0),
        FailureGroup(("UserError", "Unheard"), None, 2, 0, 0),
        FailureGroup(("UserError", "DiskFull"), None, 1, 0, 0),
    )
    failures = Failures(groups, ungrouped=4)
    found = failed_tasks_of(failures)
    assert list(found.items()) == [("userCode", 8), ("diskFull", 1), ("other", 6)]
    assert sum(found.values()) == failures.count
    assert failed_tasks_of(Failures()) == {}
