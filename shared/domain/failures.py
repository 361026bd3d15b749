"""Failed tasks that failed alike: what makes two failures the same, and the short name that a group of them has."""

from hashlib import blake2b


def failure_group_id(failure: tuple[str, str], exit_code: int | None) -> str:
    """The opaque name of the group of a failure, (category, code), with an exit code."""
    category, code = failure
    return blake2b(repr((category, code, exit_code)).encode(), digest_size=6).hexdigest()
