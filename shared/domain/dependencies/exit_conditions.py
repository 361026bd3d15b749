"""Decides by a failed task's exit conditions whether it satisfies the tasks that depend on it.

Source: the reference of ExitConditions and ExitOptions. The first that applies wins: an exit code, a range, an error in
uploading files, the default. Without any dependency action, a failure satisfies no dependency.
"""

from itertools import chain

from msgspec import Struct

_SATISFY = "satisfy"


class ExitOptions(Struct, rename="camel"):
    """The dependency action for a failure, in any case; None where the task sets none."""

    dependency_action: str | None = None


class ExitCode(Struct, rename="camel"):
    """An exit code and its options."""

    code: int
    exit_options: ExitOptions | None = None


class ExitCodeRange(Struct, rename="camel"):
    """Exit codes from `start` to `end`, inclusive, and their options."""

    start: int
    end: int
    exit_options: ExitOptions | None = None


class ExitConditions(Struct, rename="camel"):
    """A task's options for its own failure, named as in the REST API (2025-06-01)."""

    exit_codes: list[ExitCode] | None = None
    exit_code_ranges: list[ExitCodeRange] | None = None
    pre_processing_error: ExitOptions | None = None
    file_upload_error: ExitOptions | None = None
    default: ExitOptions | None = None

    def failure_satisfies(self, exit_code: int | None, failure_code: str = "") -> bool:
        """Returns whether a failure with this exit code (None: none) and service code satisfies dependencies."""
        return self._action(exit_code, failure_code).lower() == _SATISFY

    def _action(self, exit_code: int | None, failure_code: str) -> str:
        if exit_code is not None:
            codes = (each.exit_options for each in self.exit_codes or () if each.code == exit_code)
            ranges = (each.exit_options for each in self.exit_code_ranges or () if each.start <= exit_code <= each.end)
            for options in chain(codes, ranges):
                return _action_of(options)
        if failure_code.lower().startswith("fileupload"):
            return _action_of(self.file_upload_error) or _action_of(self.default)
        return (exit_code is None and _action_of(self.pre_processing_error)) or _action_of(self.default)


def _action_of(options: ExitOptions | None) -> str:
    return (options.dependency_action or "") if options else ""
