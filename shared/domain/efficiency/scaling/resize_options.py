"""What resizes of a pool did to runs on nodes that left, as evaluations of its formula and events of Batch state it."""

import re
from collections.abc import Iterable

from shared.domain.autoscale.evaluation import OPTION, OPTIONS
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import BatchEvent, text_of
from shared.domain.pools.pool_settings import Evaluation

KINDS = frozenset({"PoolResizeStartEvent", "PoolAutoScaleEvent"})
"""The kinds of Batch's events that state an option."""
_OPTION = re.compile(rf"{re.escape(OPTION)}=(\w+)")


def resize_options(evaluations: Iterable[Evaluation], events: Iterable[BatchEvent]) -> list[tuple[int, str]]:
    """Returns the options by their times in milliseconds since 1970, in order."""
    found = [(one.at, _stated(one.results)) for one in evaluations]
    for event in events:
        option = text_of(event.properties, "nodeDeallocationOption") or _stated(text_of(event.properties, "results"))
        found.append((event.at, option))
    every = [(to_milliseconds(at), option.lower()) for at, option in found if option]
    return sorted(one for one in every if one[1] in OPTIONS)


def _stated(results: str | None) -> str | None:
    match = _OPTION.search(results or "")
    return match[1] if match else None
