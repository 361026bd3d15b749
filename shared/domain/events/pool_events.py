"""Events of pools that Batchscope finds itself, in the form of Batch's events: changes of a pool's settings.

Their kinds begin with `pool.`, as OpenTelemetry names events by namespace.
"""

from collections.abc import Iterator
from typing import Any

from shared.domain.events.batch_events import BatchEvent, field_of, text_of

SETTINGS_CHANGE = "pool.settings_change"
POOL_KINDS = (SETTINGS_CHANGE,)
CHANGES = "changes"
"""The property with the changed settings: a list of objects with `name`, `before` and `after`."""
_MAX_NAMED = 5  # changes in a sentence


def settings_sentence(event: BatchEvent) -> str:
    """Returns a sentence with the first changes, by setting."""
    found = list(_changes_in(event))
    more = f"; and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return f"Settings of the pool '{event.pool}' changed: {'; '.join(found[:_MAX_NAMED])}{more}."


def _changes_in(event: BatchEvent) -> Iterator[str]:
    listed: Any = field_of(event.properties, CHANGES)
    for one in listed if isinstance(listed, list) else ():
        before, after = (text_of(one, name) or "none" for name in ("before", "after"))
        yield f"{text_of(one, 'name')} {before} -> {after}"
