"""What a client asks of telemetry; a module of its own, as the edge needs no more than this when the app starts."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Asked:
    """None is no bound and no choice; `name` and `attributes` are as people write them (see choices.choice_of)."""

    since: datetime | None = None
    until: datetime | None = None
    step: timedelta | None = None
    name: str | None = None
    attributes: str | None = None
