"""Failed tasks by cause: category and code of what Batch says, and the exit code. Texts of the failures are no cause."""

from hashlib import blake2b


def failure_group_id(failure: tuple[str, str], exit_code: int | None) -> str:
    """A short opaque key of the cause that a task with this (category, code) and exit code failed for."""
    return blake2b(repr((*failure, exit_code)).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
