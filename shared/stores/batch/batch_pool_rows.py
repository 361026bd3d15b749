"""Converts the Batch service's JSON of pools, without secrets. Field names: REST 2025-06-01.

Properties that mostly hold secrets aren't requested: `POOL_FIELDS` omits users and mounts. A start task is sent whole;
kept are its redacted command line, the names of its environment variables, as any value may be a secret, and the
properties of `StartTaskSettings`. Of the machines' configuration only the properties of `MachineSettings` are kept, so
no registries and extensions. Of what is redacted a short digest shows later whether it changed.

A setting of an unexpected type doesn't make its pool unreadable: it is left out, and `settings_left_out` names it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import UNSET, Raw, Struct, UnsetType, ValidationError, convert, to_builtins
from msgspec.json import Decoder, decode, encode

from shared.domain.core.stamps import from_milliseconds, parse_milliseconds
from shared.domain.core.well_typed import well_typed
from shared.domain.pools.machine_settings import MachineSettings, StartTaskSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_settings import AutoScale, Problem, StartTask
from shared.domain.pools.setting_changes import texts_of, variable_setting
from shared.domain.redaction.digests import hidden_digest
from shared.domain.redaction.redaction import MARK, redacted
from shared.domain.tasks.task_details import ContainerSettings, ResourceFile, ShownProperties, UserIdentity
from shared.domain.tasks.task_secrets import without_secrets
from shared.stores.batch.batch_rows import NONSENSE, Rows

POOL_FIELDS = (
    "id", "displayName", "creationTime", "state", "stateTransitionTime", "allocationState",
    "allocationStateTransitionTime", "vmSize", "currentDedicatedNodes", "currentLowPriorityNodes",
    "targetDedicatedNodes", "targetLowPriorityNodes", "taskSlotsPerNode", "resizeErrors", "enableAutoScale",
    "autoScaleFormula", "autoScaleEvaluationInterval", "autoScaleRun", "startTask", "virtualMachineConfiguration",
    "networkConfiguration", "taskSchedulingPolicy", "enableInterNodeCommunication", "upgradePolicy", "identity",
    "metadata", "applicationPackageReferences", "lastModified",
)  # fmt: skip

SIZES_SINCE = "2026-10-01"
_SIZE_FIELDS = ("vmSkuProfile",)
_MAX_KNOWN = 1000  # settings of pools, of some KB each


def pool_fields(version: str) -> tuple[str, ...]:
    """Returns the properties to request in an API version: the service refuses those that came later."""
    return POOL_FIELDS if version < SIZES_SINCE else (*POOL_FIELDS, *_SIZE_FIELDS)


class ErrorRow(Struct, rename="camel"):
    """An error as the service sends it, of a resize, a node or a start task."""

    code: str | None = None
    message: str | None = None
    category: str | None = None


class _Setting(Struct):
    name: str
    value: str | None = None


class _StartTask(Struct, rename="camel"):
    command_line: str
    environment_settings: list[_Setting] | None = None
    wait_for_success: bool | None = None
    max_task_retry_count: int | None = None
    resource_files: list[ResourceFile] | None = None
    container_settings: ContainerSettings | None = None
    user_identity: UserIdentity | None = None


class _Evaluation(Struct):
    timestamp: str | None = None
    results: str | None = None
    error: ErrorRow | None = None


class _Settings(Struct, rename="camel", omit_defaults=True):
    """The properties of `MachineSettings`, as sent."""

    virtual_machine_configuration: Raw | UnsetType = UNSET
    vm_sku_profile: Raw | UnsetType = UNSET
    network_configuration: Raw | UnsetType = UNSET
    task_scheduling_policy: Raw | UnsetType = UNSET
    enable_inter_node_communication: Raw | UnsetType = UNSET
    upgrade_policy: Raw | UnsetType = UNSET
    identity: Raw | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    application_package_references: Raw | UnsetType = UNSET


class _OwnSettings(Struct, rename="camel"):
    """The settings of `_Pool` itself: all that is optional, except for numbers and errors, whose absence means zero."""

    display_name: str | None = None
    enable_auto_scale: bool | None = None
    auto_scale_formula: str | None = None
    auto_scale_evaluation_interval: str | None = None
    auto_scale_run: _Evaluation | None = None
    start_task: _StartTask | None = None
    last_modified: str | None = None


class _Pool(_OwnSettings, rename="camel", kw_only=True):
    id: str
    creation_time: str
    state: str
    state_transition_time: str
    vm_size: str
    allocation_state: str | None = None
    allocation_state_transition_time: str | None = None
    current_dedicated_nodes: int | None = None
    current_low_priority_nodes: int | None = None
    target_dedicated_nodes: int | None = None
    target_low_priority_nodes: int | None = None
    task_slots_per_node: int | None = None
    resize_errors: list[ErrorRow] | None = None


class _Named(Struct):
    id: str


class Page[T](NamedTuple):
    """The valid items of a page, and by id the errors of invalid ones."""

    things: list[T]
    nonsense: dict[str, str]


_ROWS, _NAMED, _POOL, _SETTINGS = Decoder(Rows[Raw]), Decoder(_Named), Decoder(_Pool), Decoder(_Settings)
_OWN_SETTINGS = frozenset(_OwnSettings.__struct_encode_fields__)


def page_of[T](body: bytes, what: str, parse: Callable[[bytes], T]) -> tuple[Page[T], str | None]:
    """Returns a page of a list and its next link; an invalid row doesn't affect others.

    Raises one of NONSENSE for an invalid page, or an invalid row without an id.
    """
    page, found = _ROWS.decode(body), Page[T]([], {})
    for raw in map(bytes, page.value):
        try:
            found.things.append(parse(raw))
        except NONSENSE as error:
            name = _NAMED.decode(raw).id
            found.nonsense[name] = f"Batch's data of the {what} '{name}' makes no sense: {error!r}"
    return found, page.link


def pool_of(body: bytes) -> PoolFacts:
    """Returns one pool. Raises one of NONSENSE if it is invalid."""
    row, left_out = _row_of(body)
    (settings, hidden), more_left_out = _machine_settings(encode(_SETTINGS.decode(body)))
    is_scaled = _is_autoscaled(row, left_out)
    return PoolFacts(
        id=row.id,
        creation_time=time_of(row.creation_time),
        state=row.state,
        state_transition_time=time_of(row.state_transition_time),
        vm_size=row.vm_size,
        allocation_state=row.allocation_state,
        allocation_state_transition_time=maybe_time(row.allocation_state_transition_time),
        dedicated=Size(row.current_dedicated_nodes or 0, row.target_dedicated_nodes),
        spot=Size(row.current_low_priority_nodes or 0, row.target_low_priority_nodes),
        slots_per_node=max(row.task_slots_per_node or 1, 1),
        resize_errors=tuple(map(_problem, row.resize_errors or ())),
        auto_scale=_auto_scale(row) if is_scaled else None,
        start_task=_start_task(row.start_task) if row.start_task else None,
        display_name=_clean(row.display_name),
        settings=settings,
        last_modified=maybe_time(row.last_modified),
        settings_left_out=(*left_out, *more_left_out),
        hidden={**hidden, **_own_hidden(row, is_scaled=is_scaled)},
    )


def _row_of(body: bytes) -> tuple[_Pool, tuple[str, ...]]:
    """Returns a pool's row, and the names of its own settings that have another type than expected."""
    try:
        return _POOL.decode(body), ()
    except ValidationError:
        sent = decode(body, type=dict[str, Any])
        kept, left_out = well_typed(sent, _OwnSettings)
        others = {name: value for name, value in sent.items() if name not in _OWN_SETTINGS}
        return convert(others | kept, _Pool, strict=False), left_out


class _Shown[T](NamedTuple):
    """Settings without secrets, and the digests of those that have any, by dotted name."""

    settings: T
    hidden: Mapping[str, int]


@lru_cache(_MAX_KNOWN)
def _machine_settings(sent: bytes) -> tuple[_Shown[MachineSettings], tuple[str, ...]]:
    """Returns settings without secrets, and the names of those of an unexpected type.

    They are the same in nearly every answer, and removing secrets takes long.
    """
    found = decode(sent)
    try:
        return _shown(convert(found, MachineSettings, strict=False)), ()
    except ValidationError:
        kept, left_out = well_typed(found, MachineSettings)
        return _shown(convert(kept, MachineSettings, strict=False)), left_out


@lru_cache(_MAX_KNOWN)
def _start_settings(sent: bytes) -> _Shown[StartTaskSettings]:
    return _shown(decode(sent, type=StartTaskSettings), "startTask.")


def _shown[T: ShownProperties](found: T, path: str = "") -> _Shown[T]:
    settings = without_secrets(found)
    shown = texts_of(to_builtins(settings), path)
    sent = texts_of(to_builtins(found), path)
    hidden = {name: hidden_digest(text, shown[name]) for name, text in sent.items() if shown[name] != text}
    return _Shown(settings, hidden)


def _own_hidden(row: _Pool, *, is_scaled: bool) -> dict[str, int]:
    """Returns the digests of hidden parts of a pool's formula and start task, by dotted name."""
    task = row.start_task
    texts = {
        "autoScaleFormula": row.auto_scale_formula if is_scaled else None,
        "startTask.commandLine": task.command_line if task else None,
    }
    shown = {name: (text, _redacted(text)) for name, text in texts.items() if text}
    hidden = {name: hidden_digest(text, masked) for name, (text, masked) in shown.items() if masked != text}
    for setting in (task.environment_settings if task else None) or ():
        if setting.value:
            hidden[variable_setting(_redacted(setting.name))] = hidden_digest(setting.value, MARK)
    return hidden | dict(_start_settings(_start_bytes(task)).hidden if task else {})


def _start_bytes(task: _StartTask) -> bytes:
    return encode(
        StartTaskSettings(
            resource_files=task.resource_files,
            container_settings=task.container_settings,
            user_identity=task.user_identity,
        )
    )


def _is_autoscaled(row: _Pool, left_out: Sequence[str]) -> bool:
    """Returns whether a pool is autoscaled; where that can't be read, one with a formula is."""
    return bool(row.auto_scale_formula if "enableAutoScale" in left_out else row.enable_auto_scale)


def _auto_scale(row: _Pool) -> AutoScale:
    run = row.auto_scale_run or _Evaluation()
    return AutoScale(
        formula=_clean(row.auto_scale_formula),
        interval=row.auto_scale_evaluation_interval,
        evaluated_at=maybe_time(run.timestamp),
        results=_clean(run.results),
        error=_problem(run.error) if run.error else None,
    )


def _start_task(task: _StartTask) -> StartTask:
    settings = task.environment_settings or ()
    return StartTask(
        command_line=_redacted(task.command_line),
        environment=tuple((_redacted(setting.name), MARK if setting.value else "") for setting in settings),
        waits_for_success=task.wait_for_success is not False,
        retries=task.max_task_retry_count or 0,
        settings=_start_settings(_start_bytes(task)).settings,
    )


@lru_cache(_MAX_KNOWN)
def _redacted(text: str) -> str:
    """Returns a text without secrets, such as the name of a variable, in which somebody may have written one."""
    return redacted(text)


def _problem(found: ErrorRow) -> Problem:
    return Problem(found.code or "", redacted(found.message or ""))


def _clean(text: str | None) -> str | None:
    return _redacted(text) if text else text


def time_of(text: str) -> datetime:
    """Returns the aware UTC time of a stamp, to the millisecond."""
    return from_milliseconds(parse_milliseconds(text))


def maybe_time(text: str | None) -> datetime | None:
    """Returns the time of a stamp, or None without one."""
    return time_of(text) if text else None
