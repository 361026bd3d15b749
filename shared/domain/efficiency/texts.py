"""Sizes and times as text, for sentences of findings."""

from datetime import timedelta

from shared.domain.core.amounts import amount
from shared.domain.efficiency.offers import GIB

_MIB = 1 << 20
_MAX_SECONDS, _MAX_MINUTES, _MAX_HOURS = 120, 120, 48  # larger spans are in the next unit


def size_text(size: float) -> str:
    """Returns bytes as text, say `3.1 GiB` or `76 MiB`."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / _MIB:.0f} MiB"


def span_text(span: timedelta) -> str:
    """Returns a time as text, say `90 seconds`, `12 minutes`, `36 hours` or `7 days`."""
    seconds = round(span.total_seconds())
    if seconds < _MAX_SECONDS:
        return amount(seconds, "second")
    minutes = round(seconds / 60)
    if minutes < _MAX_MINUTES:
        return amount(minutes, "minute")
    hours = round(seconds / 3600)
    return amount(hours, "hour") if hours < _MAX_HOURS else amount(round(seconds / 86_400), "day")


def number_text(number: float, unit: str = "") -> str:
    """Returns a number with up to two decimals as text, say `1.33`, with a unit `1 GPU` or `1.5 GPUs`."""
    shown = f"{round(number, 2):,g}"
    return f"{shown} {unit}{'' if shown == '1' else 's'}" if unit else shown


def percent_text(share: float) -> str:
    """Returns a share as text, say `12 %`."""
    return f"{round(100 * share)} %"
