"""Fault injection: failing requests, their number and kind, and the delay of nodes' reports.

The names are those in the JSON of `POST /_emulator/faults`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

_MIN_STATUS, _MAX_STATUS = 400, 599
_CODES = {
    401: "AuthenticationFailed",
    403: "PermissionDenied",
    404: "ResourceNotFound",
    409: "OperationInvalidForCurrentState",
    412: "ConditionNotMet",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServerBusy",
}

_COUNT, _SECONDS, _TEXT, _SWITCH = (int, type(None)), (int, float), (str,), (bool,)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "method": _TEXT,
    "path": _TEXT,
    "status": _COUNT,
    "count": _COUNT,
    "retryAfter": _COUNT,
    "delaySeconds": _SECONDS,
    "reset": _SWITCH,
    "truncate": _SWITCH,
    "lateReportSeconds": _SECONDS,
}


@dataclass(slots=True)
class Fault:
    """A fault that affects requests with this method whose path, as a client writes it, matches the glob `path`.

    `count` is the number of requests left, None for all. After `delaySeconds` the connection is reset (`reset`), the
    response is an error (`status`), or half of the response is missing (`truncate`); else the request is processed.
    `lateReportSeconds` affects no request: from then on nodes report that much later.
    """

    method: str = "*"
    path: str = "*"
    status: int | None = None
    count: int | None = None
    retryAfter: int | None = None  # noqa: N815 - the JSON's name
    delaySeconds: float = 0.0  # noqa: N815 - the JSON's name
    reset: bool = False
    truncate: bool = False
    lateReportSeconds: float = 0.0  # noqa: N815 - the JSON's name

    @property
    def code(self) -> str:
        return _CODES.get(self.status or 0, "InternalError")

    @property
    def affects_requests(self) -> bool:
        """Whether the fault affects requests."""
        return bool(self.status or self.delaySeconds or self.reset or self.truncate)

    def matches(self, method: str, path: str) -> bool:
        is_match = self.method.upper() in ("*", method) and fnmatchcase(path, self.path)
        return is_match and self.affects_requests and self.count != 0


def read_fault(body: Mapping[str, Any]) -> Fault:
    """Returns a fault. Raises ValueError with the invalid name or value."""
    for name, value in body.items():
        _check(name, value)
    fault = Fault(**body)
    if not (fault.affects_requests or fault.lateReportSeconds):
        raise ValueError("A fault does something: status, delaySeconds, reset, truncate or lateReportSeconds.")
    return fault


def _check(name: str, value: object) -> None:
    if name not in _TYPES:
        raise ValueError(f"There is no '{name}' in a fault; known are {', '.join(_TYPES)}.")
    types = _TYPES[name]
    if isinstance(value, bool) != (bool in types) or not isinstance(value, types):
        raise ValueError(f"'{value}' is no value for {name} of a fault.")
    if isinstance(value, int | float) and not 0 <= value < float("inf"):
        raise ValueError(f"{name} of a fault can't be {value}.")
    if name == "status" and isinstance(value, int) and not _MIN_STATUS <= value <= _MAX_STATUS:
        raise ValueError(f"status is from {_MIN_STATUS} to {_MAX_STATUS}, not {value}.")


class FaultList:
    def __init__(self) -> None:
        self.all: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self.all.append(fault)

    def clear(self) -> None:
        self.all.clear()

    def consume(self, method: str, path: str) -> Fault | None:
        """Returns the first fault that matches the request, and decrements its `count`."""
        for fault in self.all:
            if fault.matches(method, path):
                if fault.count is not None:
                    fault.count -= 1
                return fault
        return None

    def late_report_seconds(self) -> float:
        """Returns the current delay of nodes' reports, which the latest fault with a delay sets."""
        return next((fault.lateReportSeconds for fault in reversed(self.all) if fault.lateReportSeconds), 0.0)

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(fault) for fault in self.all]
