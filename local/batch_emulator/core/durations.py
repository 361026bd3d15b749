"""ISO 8601 durations from clients, such as PT10M or P1DT2H. Years and months are invalid: they have no fixed length.

The maximum is that of .NET, which Batch has for tasks and jobs without a limit.
"""

import re

_PART = r"(?:(\d+(?:\.\d+)?)%s)?"
_DURATION = re.compile("P" + _PART % "W" + _PART % "D" + "(?:T" + "".join(_PART % unit for unit in "HMS") + ")?")
_SECONDS = (604_800, 86_400, 3600, 60, 1)
_MAX_SECONDS = ((10_675_199 * 24 + 2) * 60 + 48) * 60 + 5.4775807


def seconds_of(text: object) -> float:
    """Returns the seconds of a duration. Raises ValueError."""
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None or not any(found.groups()):
        raise ValueError(f"'{text}' is no duration such as PT10M")
    seconds = sum(float(part or 0) * unit for part, unit in zip(found.groups(), _SECONDS, strict=True))
    if seconds > _MAX_SECONDS:
        raise ValueError(f"'{text}' is longer than P10675199DT2H48M5.4775807S")
    return seconds
