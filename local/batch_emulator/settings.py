"""Knobs that may be turned while the emulator runs, by `POST /_emulator/settings`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(slots=True)
class Knobs:
    """See docs of the controls; seconds are real ones."""

    idCollation: Literal["ordinal", "reversed", "hashed"] = "ordinal"  # noqa: N815 - named as in the JSON
    unorderedLists: bool = False  # noqa: N815
    countLagSeconds: float = 0.0  # noqa: N815
    pageSize: int = 1000  # noqa: N815
    emptyPageEvery: int = 0  # noqa: N815
    nodeClockSkewSeconds: float = 0.5  # noqa: N815
    latencySeconds: float = 0.0  # noqa: N815
    lateReportSeconds: float = 0.0  # noqa: N815
    preemptionSeconds: float = 600.0  # noqa: N815
