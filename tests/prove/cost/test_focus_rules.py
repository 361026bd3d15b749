"""The validator's output as broken rules: an alternative counts only if none of its group passed."""

import pytest

from local.dev.system.console import Failure
from local.prove.cost.focus import broken_rules


def _requirement(function: str, *names: str) -> dict[str, object]:
    items = [{"CheckFunction": "CheckModelRule", "ModelRuleId": name} for name in names]
    return {"ValidationCriteria": {"Requirement": {"CheckFunction": function, "Items": items}}}


_RULES = {
    "Either-C-003-C": _requirement("OR", "Either-C-004-C", "Either-C-005-C"),
    "Both-C-000-M": _requirement("AND", "Both-C-001-M"),
}
_PASSED = "".join(f"✅ Rule-C-{number:03}-M: PASS  (violations=0, 2.6ms)\n" for number in range(100))
_FAILED = """\
❌ Either-C-005-C: FAIL  (violations=21, msg=Either MUST NOT be NULL., 1ms)
❌ Both-C-001-M: FAIL  (violations=2, msg=Both MUST be a date., 1ms)
⏭️ Skipped-C-001-M: SKIPPED  (violations=0, reason=rule not applicable, msg=not applicable, 1ms)

--- Failures ---
- Either-C-005-C: violations=21; Either MUST NOT be NULL.
- Both-C-001-M: violations=2; Both MUST be a date.
"""


def test_a_failed_alternative_is_no_fault_while_another_passes() -> None:
    either = "{} Either-C-003-C: {}  (violations=0, msg=OR)\n"
    assert broken_rules(_PASSED + either.format("✅", "PASS") + _FAILED, _RULES) == [
        "Both-C-001-M: Both MUST be a date."
    ]
    assert [
        line.partition(":")[0] for line in broken_rules(_PASSED + either.format("❌", "FAIL") + _FAILED, _RULES)
    ] == [
        "Either-C-003-C",
        "Either-C-005-C",
        "Both-C-001-M",
    ]


def test_a_validator_that_checks_nothing_is_no_proof() -> None:
    with pytest.raises(Failure, match="didn't check the table"):
        broken_rules("Traceback (most recent call last)", _RULES)
