"""The judging of `dev.py prove upgrade` on what only this version stores."""

from typing import Any, cast

import pytest

from local.prove.stack.api import Stack
from local.prove.upgrade.answers import STARTUP
from local.prove.upgrade.later_rows import RETIREMENTS, changes_path, later_problems, lost_in_rollback

_EVENT = {"time": "2026-11-29T06:00:00Z", "summary": "Settings of the pool 'p' changed: metadata."}
_PATH = changes_path("demo")
_STARTUP = f"/accounts/demo/pools/p{STARTUP}"
_ACCOUNT: dict[str, Any] = {"taskCounters": {"started": 5}, "waitedSeconds": {"slotsBusy": 9.0}}
_TRUTH = {"vmSizes": {"d2": 2}, "nodeAgentVersions": {"1.12.3": 2}}
_CHANGE = {"time": _EVENT["time"], "after": '[{"name":"turn","value":"turn-2"}]'}
_WAITED = {"creationTime": "2026-11-01T00:00:00Z", **_ACCOUNT}
_POOL = {"id": "p", **_WAITED, "settings": {}, "settingsLeftOut": [], "settingChanges": [_CHANGE], **_TRUTH}


class _Shown:
    """A stack with these answers."""

    account = "demo"

    def __init__(self, pool: dict[str, Any], answers: dict[str, Any]) -> None:
        self._pool, self._answers = pool, answers

    def pools(self) -> dict[str, Any]:
        return {"p": self._pool}

    def true_pools(self) -> dict[str, Any]:
        return {"p": _TRUTH}

    def get(self, path: str) -> Any:
        good = {_PATH: {"value": [_EVENT]}, RETIREMENTS: {"value": [{"id": "r"}]}, "/accounts/demo": _ACCOUNT}
        return {**good, **self._answers}[path]


@pytest.mark.parametrize(("pool", "answers", "problem"), [
    ({}, {}, None),
    ({"settings": None}, {}, "settings weren't read"),
    ({"settingsLeftOut": ["startTask"]}, {}, "['startTask']"),
    ({"nodeAgentVersions": {"1.12.3": 1}}, {}, "nodeAgentVersions is"),
    ({"vmSizes": None}, {}, "vmSizes is None"),
    ({"settingChanges": [{**_CHANGE, "after": "turn-1"}]}, {}, "is no change"),
    ({}, {_PATH: {"value": []}}, "is no event"),
    ({}, {RETIREMENTS: {"value": []}}, "no retirements"),
    ({}, {"/accounts/demo": {**_ACCOUNT, "taskCounters": {"started": 4}}}, "taskCounters fell"),
    ({}, {"/accounts/demo": {**_ACCOUNT, "waitedSeconds": {}}}, "waitedSeconds fell"),
])  # fmt: skip
def test_each_wrong_answer_of_this_version_is_a_problem(
    pool: dict[str, Any], answers: dict[str, Any], problem: str | None
) -> None:
    stack = cast("Stack", _Shown({**_POOL, **pool}, answers))
    found = later_problems(stack, "turn-2", {"p", "gone"}, {"/accounts/demo": _ACCOUNT})
    assert len(found) == (problem is not None)
    assert (problem or "") in "".join(found)


@pytest.mark.parametrize(("before", "startups", "problem"), [
    ({"/accounts/demo/pools/p": _WAITED, _STARTUP: {"nodes": 3}}, 3, None),
    ({"/accounts/demo/pools/p": {**_WAITED, "waitedSeconds": {"slotsBusy": 9.5}}}, 3, "pool p: waitedSeconds fell"),
    ({"/accounts/demo/pools/p": {**_WAITED, "taskCounters": {"started": 6}}}, 3, "pool p: taskCounters fell"),
    ({"/accounts/demo/pools/p": {**_WAITED, "taskCounters": {"started": 6}, "creationTime": "earlier"}}, 3, None),
    ({_STARTUP: {"nodes": 3}}, 2, "pool p: start-ups fell from 3 to 2"),
])  # fmt: skip
def test_counters_and_start_ups_of_each_pool_may_not_fall(
    before: dict[str, Any], startups: int, problem: str | None
) -> None:
    stack = cast("Stack", _Shown(_POOL, {_STARTUP: {"nodes": startups}}))
    found = later_problems(stack, "turn-2", {"p"}, {"/accounts/demo": _ACCOUNT, **before})
    assert len(found) == (problem is not None)
    assert (problem or "") in "".join(found)


def test_start_ups_and_time_waited_that_the_rollback_changed_are_named_pool_by_pool() -> None:
    rows: dict[str, Any] = {_PATH: {"value": []}, RETIREMENTS: {"value": []}}
    before = {**rows, _STARTUP: {"nodes": 3, "phases": [1], "asOf": "a"}, "/accounts/demo/pools/p": _WAITED}
    assert lost_in_rollback(before, {**before, _STARTUP: {"nodes": 3, "phases": [1], "asOf": "b"}}, "demo") == []
    assert lost_in_rollback(before, rows, "demo") == []
    after = {
        **before,
        _STARTUP: {"nodes": 2, "phases": [1]},
        "/accounts/demo/pools/p": {**_WAITED, "waitedSeconds": {}},
    }
    assert lost_in_rollback(before, after, "demo") == [
        "/accounts/demo/pools/p: waitedSeconds was {'slotsBusy': 9.0}, is {}", f"{_STARTUP}: nodes was 3, is 2",
    ]  # fmt: skip


def test_events_and_retirements_that_are_gone_after_the_rollback_are_named() -> None:
    before = {_PATH: {"value": [_EVENT]}, RETIREMENTS: {"value": [{"id": "r"}, {"id": "s"}]}}
    assert lost_in_rollback(before, before, "demo") == []
    after = {_PATH: {"value": [{**_EVENT, "summary": "other"}]}, RETIREMENTS: {"value": [{"id": "s"}]}}
    assert lost_in_rollback(before, after, "demo") == [
        f"the event of {_EVENT['time']} is gone: {_EVENT['summary']}", "the retirement r is gone",
    ]  # fmt: skip
