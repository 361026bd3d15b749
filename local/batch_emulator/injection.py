"""Faults on demand: which requests fail, how, and how often."""

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(slots=True)
class Fault:
    """A fault for requests of a method and a path glob; `count` is how many it still hits, None for ever."""

    method: str = "*"
    path: str = "*"
    status: int | None = None
    count: int | None = None
    retryAfter: int | None = None  # noqa: N815 - named as in the JSON
    delaySeconds: float = 0.0  # noqa: N815
    reset: bool = False
    truncate: bool = False
    lateReportSeconds: float = 0.0  # noqa: N815

    def hits(self, method: str, path: str) -> bool:
        return self.count != 0 and self.method in ("*", method) and fnmatchcase(path, self.path)


class Faults:
    def __init__(self) -> None:
        self.all: list[Fault] = []

    def take(self, method: str, path: str) -> Fault | None:
        """The first fault that hits, counted down."""
        for fault in self.all:
            if fault.hits(method, path):
                if fault.count is not None:
                    fault.count -= 1
                return fault
        return None

    @property
    def late_report_seconds(self) -> float:
        return max((fault.lateReportSeconds for fault in self.all), default=0.0)
