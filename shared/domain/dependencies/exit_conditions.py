"""Whether a task that failed lets those that depend on it go on, by its exit conditions.

Source: the reference of ExitConditions and ExitOptions. An exit code of its own goes before a range, a range before an
error in uploading files, that before the default; without any word on dependencies a failure doesn't satisfy them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_SATISFY = "satisfy"


@dataclass(frozen=True, slots=True)
class ExitRange:
    """Exit codes from `start` to `end`, both included, and their dependency action in lower case."""

    start: int
    end: int
    action: str | None = None


@dataclass(frozen=True, slots=True)
class ExitConditions:
    """What a task says of its own end, as far as dependencies go: actions in lower case, None where it says none."""

    codes: Mapping[int, str | None] = field(default_factory=dict)
    ranges: tuple[ExitRange, ...] = ()
    pre_processing_error: str | None = None
    file_upload_error: str | None = None
    default: str | None = None

    def failure_satisfies(self, exit_code: int | None, failure_code: str = "") -> bool:
        """Of a task that failed with this exit code, None where it has none; `failure_code` is the service's word."""
        return self._action(exit_code, failure_code) == _SATISFY

    def _action(self, exit_code: int | None, failure_code: str) -> str | None:
        otherwise = self.default
        if failure_code.lower().startswith("fileupload"):
            otherwise = self.file_upload_error or self.default
        elif exit_code is None:
            otherwise = self.pre_processing_error or self.default
        if exit_code is None:
            return otherwise
        if exit_code in self.codes:
            return self.codes[exit_code]
        return next((each.action for each in self.ranges if each.start <= exit_code <= each.end), otherwise)
