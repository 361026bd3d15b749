"""Numbers and flags sent as strings, as the Azure CLI does, are parsed as the OData reader parses them."""

import inspect
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from azure.batch import models

from local.batch_emulator.protocol.property_types import type_of
from tests.emulator.support.direct import Direct

_REQUESTS = (
    models.BatchJobCreateOptions,
    models.BatchJobDisableOptions,
    models.BatchJobScheduleCreateOptions,
    models.BatchNodeRemoveOptions,
    models.BatchNodeUserCreateOptions,
    models.BatchPoolCreateOptions,
    models.BatchPoolEnableAutoScaleOptions,
    models.BatchPoolResizeOptions,
    models.BatchTaskCreateOptions,
    models.UploadBatchServiceLogsOptions,
)
_MEANS_SEVERAL = {"access", "value"}
_FREE = {"settings", "protectedSettings"}


@pytest.mark.parametrize("spelled", ["3", " 3", "+3", "03", "3\t"])
def test_a_number_sent_as_a_string_is_taken_and_shown_as_a_number(spelled: str) -> None:
    direct = _prepared()
    job = {"id": "job", "priority": spelled, "constraints": {"maxTaskRetryCount": spelled}, "poolInfo": {"poolId": "p"}}
    assert direct.call("POST", "/jobs", job)[0] == 201
    shown = direct.call("GET", "/jobs/job")[1]
    assert (shown["priority"], shown["constraints"]["maxTaskRetryCount"]) == (3, 3)
    assert direct.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": spelled})[0] == 202
    assert direct.call("GET", "/pools/pool")[1]["targetDedicatedNodes"] == 3


def test_numbers_of_tasks_in_a_collection_may_be_strings() -> None:
    direct = _prepared()
    assert direct.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})[0] == 201
    row = {"id": "t", "commandLine": "true", "requiredSlots": "2", "constraints": {"maxTaskRetryCount": "-1"}}
    status, answer = direct.call("POST", "/jobs/job/addtaskcollection", {"value": [row]})
    assert (status, answer["value"][0]["status"]) == (200, "Success")
    assert direct.call("GET", "/jobs/job/tasks/t")[1]["requiredSlots"] == 2


@pytest.mark.parametrize(("spelled", "flag"), [("true", True), ("True", True), (" FALSE ", False)])
def test_a_flag_sent_as_a_string_is_taken_and_shown_as_a_flag(spelled: str, *, flag: bool) -> None:
    direct = _prepared()
    job = {"id": "job", "usesTaskDependencies": spelled, "poolInfo": {"poolId": "pool"}}
    assert direct.call("POST", "/jobs", job)[0] == 201
    assert direct.call("GET", "/jobs/job")[1]["usesTaskDependencies"] is flag


@pytest.mark.parametrize(
    "wrong", ["", "three", "3.0", "1e2", "1,000", "0x3", "\u0663", "2147483648", 3.0, 2**31, True, [3]]
)
def test_invalid_numbers_are_refused(wrong: Any) -> None:
    body = {"id": "job", "priority": wrong, "poolInfo": {"poolId": "pool"}}
    assert _prepared().call("POST", "/jobs", body) == (400, "InvalidPropertyValue")


@pytest.mark.parametrize("wrong", ["", "yes", "1", 0, 1, []])
def test_invalid_flags_are_refused(wrong: Any) -> None:
    body = {"id": "job", "usesTaskDependencies": wrong, "poolInfo": {"poolId": "pool"}}
    assert _prepared().call("POST", "/jobs", body) == (400, "InvalidPropertyValue")


@pytest.mark.parametrize(
    "body",
    [
        {"id": 5},
        {"displayName": 5},
        {"metadata": [{"name": "a", "value": 5}]},
        {"metadata": [{"name": 5, "value": "a"}]},
    ],
)
def test_a_number_is_never_read_as_a_string(body: dict[str, Any]) -> None:
    job = {"id": "job", "poolInfo": {"poolId": "pool"}, **body}
    assert _prepared().call("POST", "/jobs", job) == (400, "InvalidPropertyValue")


def test_every_property_of_the_official_models_has_its_kind() -> None:
    found = {pair for model in _REQUESTS for pair in _properties(model)}
    assert len(found) > 150
    wrong = {(name, kind) for name, kind in found if name not in _MEANS_SEVERAL | _FREE and type_of(name) != kind}
    assert wrong == set()


def _prepared() -> Direct:
    direct = Direct(1)
    pool = {"id": "pool", "vmSize": "standard_d2s_v5", "taskSlotsPerNode": 4}
    assert direct.call("POST", "/pools", pool)[0] == 201
    return direct


def _properties(model: Any) -> Iterator[tuple[str, tuple[type, type | None]]]:
    """Yields names on the wire with their JSON types."""
    model.__new__(model)
    for attribute, hint in typing.get_type_hints(model, {**vars(models), "_models": models}).items():
        name = getattr(inspect.getattr_static(model, attribute, None), "_rest_name_input", None)
        if name:
            kind, inner = _kind(hint)
            yield name, (kind, inner)
            yield from (pair for each in _models_in(hint) for pair in _properties(each))


def _kind(hint: Any) -> tuple[type, type | None]:
    options = [each for each in typing.get_args(hint) if each is not type(None)] or [hint]
    first = options[0]
    if typing.get_origin(first) is list or typing.get_origin(hint) is list:
        (inner,) = typing.get_args(first if typing.get_origin(first) is list else hint)
        return list, _kind(inner)[0]
    if typing.get_origin(first) is dict:
        return dict, None
    if first in (int, bool):
        return first, None
    return (dict if any(True for each in options for _ in _models_in(each)) else str), None


def _models_in(hint: Any) -> Iterator[Any]:
    if getattr(models, getattr(hint, "__name__", ""), None) is hint and not hasattr(hint, "__members__"):
        yield hint
    for each in typing.get_args(hint):
        yield from _models_in(each)
