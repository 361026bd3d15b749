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
MORE_CHANGES = "moreChanges"
"""The property with the number of changed settings beyond those listed, without it there are none."""
_MAX_NAMED = 5  # changes in a sentence


def settings_sentence(event: BatchEvent) -> str:
    """Returns a sentence with the first changes, by setting."""
    found = list(_changes_in(event))
    unlisted = field_of(event.properties, MORE_CHANGES)
    more = max(len(found) - _MAX_NAMED, 0) + (unlisted if isinstance(unlisted, int) else 0)
    named = "; ".join([*found[:_MAX_NAMED], *([f"and {more} more"] if more else [])])
    return f"Settings of the pool '{event.pool}' changed: {named}."


def _changes_in(event: BatchEvent) -> Iterator[str]:
    listed: Any = field_of(event.properties, CHANGES)
    for one in listed if isinstance(listed, list) else ():
        before, after = (text_of(one, name) or "none" for name in ("before", "after"))
        yield f"{text_of(one, 'name')} {before} -> {after}"
