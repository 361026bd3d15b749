"""A client's telemetry query, in a module of its own because the HTTP layer needs no more at start-up."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class SeriesQuery:
    """A query; None means no limit or filter. `name` and `attributes` are texts for choices.choice_of."""

    since: datetime | None = None
    until: datetime | None = None
    step: timedelta | None = None
    name: str | None = None
    attributes: str | None = None
