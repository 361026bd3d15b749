"""Decides by a failed task's exit conditions whether it satisfies the tasks that depend on it.

Source: the reference of ExitConditions and ExitOptions. The first that applies wins: an exit code, a range, an error in
uploading files, the default. Without any dependency action, a failure satisfies no dependency.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_SATISFY = "satisfy"


@dataclass(frozen=True, slots=True)
class ExitRange:
    """Exit codes from `start` to `end`, inclusive, and their dependency action in lower case."""

    start: int
    end: int
    action: str | None = None


@dataclass(frozen=True, slots=True)
class ExitConditions:
    """A task's dependency actions for its own failure, in lower case, None where it sets none."""

    codes: Mapping[int, str | None] = field(default_factory=dict)
    ranges: tuple[ExitRange, ...] = ()
    pre_processing_error: str | None = None
    file_upload_error: str | None = None
    default: str | None = None

    def failure_satisfies(self, exit_code: int | None, failure_code: str = "") -> bool:
        """Returns whether a failure with this exit code (None: none) and service code satisfies dependencies."""
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
