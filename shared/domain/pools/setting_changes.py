"""Changes of a pool's settings between two reads, by name, with the values before and after.

The order of lists, such as metadata, has no meaning in Batch, so another order is no change. Where only hidden parts
of a value differ, such as a variable's value, the change has the same text before and after.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import takewhile
from typing import Any, Protocol

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.core.well_typed import is_left_out
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.domain.events.pool_events import CHANGES, MORE_CHANGES, SETTINGS_CHANGE
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_settings import AutoScale, StartTask
from shared.domain.redaction.redaction import MARK

MAX_CHANGES = 20
"""Changes that a pool keeps, the latest first, and that an event lists."""
VARIABLES = "startTask.environmentSettings"
_KEPT_WITH_HIDDEN = (
    "applicationPackageReferences", "startTask.resourceFiles", "startTask.containerSettings", "startTask.userIdentity",
)  # fmt: skip
_MACHINE = "virtualMachineConfiguration."
_IMAGE = f"{_MACHINE}imageReference."
_OWN_IMAGES = ("virtualMachineImageId", "sharedGalleryImageId", "communityGalleryImageId")
_IMAGE_PARTS, _LATEST = ("publisher", "offer", "sku", "version"), "latest"
_MAX_NAMED, _MAX_VALUE = 3, 60  # settings in words, and characters of a value there
_MAX_TEXT = 200  # characters of a value
_CONTEXT = 30  # of these, before the first difference of long ones


class HasSettings(Protocol):
    """A pool's properties that users set and machines don't; `last_modified` moves with each change by users."""

    @property
    def vm_size(self) -> str: ...
    @property
    def slots_per_node(self) -> int: ...
    @property
    def auto_scale(self) -> AutoScale | None: ...
    @property
    def start_task(self) -> StartTask | None: ...
    @property
    def settings(self) -> MachineSettings | None: ...
    @property
    def last_modified(self) -> datetime | None: ...
    @property
    def settings_left_out(self) -> tuple[str, ...]: ...
    @property
    def hidden(self) -> Mapping[str, int] | None: ...


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting, named as in Batch's REST API, that had another value before `at`; None is no value.

    Values are text, without secrets; long ones are cut to 200 characters around their first difference. `at` is Batch's
    time of the pool's last change.
    """

    at: datetime
    name: str
    before: str | None
    after: str | None


def changes_between(before: HasSettings, after: HasSettings) -> tuple[SettingChange, ...]:
    """Returns the settings that differ, by name.

    None where the service reports no change, or the first read is that of a version which kept less. Settings that one
    of the reads left out aren't compared, nor those that an earlier version didn't keep.
    """
    at = after.last_modified
    if at is None or before.last_modified in {None, at} or before.settings is None:
        return ()
    old, new = _by_name(before), _by_name(after)
    left_out = {*before.settings_left_out, *after.settings_left_out}
    if before.hidden is None:
        left_out.update(_KEPT_WITH_HIDDEN)
    differ = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    differ |= _hidden_changes(before, after) & old.keys() & new.keys()
    found = [
        SettingChange(at, name, *_cut(old.get(name), new.get(name)))
        for name in differ
        if not is_left_out(name, left_out)
    ]
    if not is_left_out(VARIABLES, left_out):
        found += _changed_variables(at, before, after)
    return tuple(sorted(found, key=lambda change: change.name))


def _hidden_changes(before: HasSettings, after: HasSettings) -> set[str]:
    """Returns the names of settings whose hidden parts are known of both reads and differ."""
    old, new = before.hidden or {}, after.hidden or {}
    return {name for name in old.keys() & new.keys() if old[name] != new[name]}


def _changed_variables(at: datetime, before: HasSettings, after: HasSettings) -> list[SettingChange]:
    """Returns the changes of the values of variables that both start tasks have; values themselves are hidden."""
    old, new, hidden = _values(before), _values(after), _hidden_changes(before, after)
    return [
        SettingChange(at, name, old[name], new[name])
        for name in old.keys() & new.keys()
        if old[name] != new[name] or name in hidden
    ]


def _values(pool: HasSettings) -> dict[str, str | None]:
    """Returns masks by the dotted names of variables, None for empty ones; rows of old versions may have values."""
    variables = pool.start_task.environment if pool.start_task else ()
    return {variable_setting(name): MARK if value else None for name, value in variables}


def variable_setting(name: str) -> str:
    """Returns the dotted name of the setting that is a start task's variable."""
    return f"{VARIABLES}.{name}"


def settings_event(pool_id: str, created: datetime, changes: Sequence[SettingChange], *, more: int = 0) -> BatchEvent:
    """Returns the event of changes that one read found, at least one; `more` of them aren't listed.

    Its identity follows from the pool, the time of the change and its values, so whoever finds it again repeats it.
    """
    at = changes[0].at
    listed = [{"name": one.name, "before": one.before, "after": one.after} for one in changes]
    parts = ["pool", key_of(pool_id), to_milliseconds(created), to_milliseconds(at), listed]
    identity = blake2b(msgspec.json.encode(parts), digest_size=IDENTITY_BYTES).digest()
    properties = {CHANGES: listed, **({MORE_CHANGES: more} if more else {})}
    return BatchEvent(at, SETTINGS_CHANGE, None, None, pool_id, None, properties, identity)


def settings_at(pool: HasSettings, changes: Sequence[SettingChange], at: datetime) -> dict[str, str]:
    """Returns the settings as text by dotted name as they held at a time, from the `changes` that a pool keeps.

    Nothing before the oldest of as many changes as a pool keeps at most: earlier ones may be forgotten.
    """
    found = _by_name(pool)
    if len(changes) >= MAX_CHANGES and at < changes[-1].at:
        return {}
    for change in changes:
        if change.at > at:
            found[change.name] = change.before or ""
    return {name: value for name, value in found.items() if value}


def image_in(settings: Mapping[str, str]) -> str:
    """Returns the image in settings by dotted name: its own id, or publisher, offer, SKU and a fixed version."""
    image = {name: settings.get(f"{_IMAGE}{name}", "") for name in (*_OWN_IMAGES, *_IMAGE_PARTS)}
    own = next((image[name] for name in _OWN_IMAGES if image[name]), "")
    parts = (image[name] for name in _IMAGE_PARTS if image[name] not in {"", _LATEST})
    return (own or "/".join(parts)).lower()


def texts_of_changes(changes: Sequence[SettingChange], *, more: int = 0) -> list[tuple[datetime, str]]:
    """Returns changes in words by time, the earliest first: `image 22.04 -> 24.04, taskSlotsPerNode 4 -> 8`.

    With the latest ones `more` were made that `changes` don't have.
    """
    times = sorted({one.at for one in changes})
    return [(at, _named([one for one in changes if one.at == at], more if at == times[-1] else 0)) for at in times]


def _named(changes: Sequence[SettingChange], more: int) -> str:
    """Returns the first changed settings in words; all that name the image are one, which goes first."""
    image = [one for one in changes if one.name.startswith(_IMAGE)]
    before, after = ("/".join(filter(None, (getattr(one, side) for one in image))) for side in ("before", "after"))
    texts = [_change_text("image", before, after)] if image else []
    texts += [
        _change_text(one.name.removeprefix(_MACHINE), one.before, one.after) for one in changes if one not in image
    ]
    left = len(texts[_MAX_NAMED:]) + more
    return ", ".join([*texts[:_MAX_NAMED], *([f"{left:,} more"] if left else [])])


def _change_text(name: str, before: str | None, after: str | None) -> str:
    if before == after:
        return f"another {name}"
    old, new = (_short(value or "none") for value in (before, after))
    return f"{name} {old} -> {new}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"


def _by_name(pool: HasSettings) -> dict[str, str]:
    """Returns each setting that has a value as text, by its dotted name."""
    found: dict[str, Any] = {"vmSize": pool.vm_size, "taskSlotsPerNode": pool.slots_per_node}
    if pool.auto_scale:
        found |= {"autoScaleFormula": pool.auto_scale.formula, "autoScaleEvaluationInterval": pool.auto_scale.interval}
    if pool.start_task:
        task = pool.start_task
        variables = [name for name, _ in task.environment]
        found["startTask"] = {
            "commandLine": task.command_line, "environmentSettings": variables,
            "waitForSuccess": task.waits_for_success, "maxTaskRetryCount": task.retries,
            **(msgspec.to_builtins(task.settings) if task.settings else {}),
        }  # fmt: skip
    if pool.settings:
        found |= msgspec.to_builtins(pool.settings)
    return texts_of(found)


def texts_of(settings: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """Returns each setting that has a value as text, by its dotted name behind `path`; lists are in no order."""
    return dict(_leaves(settings, path))


def _leaves(found: Mapping[str, Any], path: str) -> Iterable[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{name}.")
        elif value is not None and value != []:
            yield f"{path}{name}", value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(sorted(map(_text_in_list, value)))}]"
    return _text_in_list(value)


def _text_in_list(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _cut(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Returns the values; of long ones the part around the first difference, or hidden part."""
    if max(len(before or ""), len(after or "")) <= _MAX_TEXT:
        return before, after
    pairs = zip(before or "", after or "", strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) if before != after else _hidden_at(after)
    start = max(alike - _CONTEXT, 0)
    return _part(before, start), _part(after, start)


def _hidden_at(text: str | None) -> int:
    return max((text or "").find(MARK), 0)


def _part(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    end = start + _MAX_TEXT - 2
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
