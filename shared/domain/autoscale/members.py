"""The members of timestamps."""

from shared.domain.autoscale.values import Scalar, Timestamp, ValueProblemError, type_name

_MEMBERS = ("year", "month", "day", "hour", "minute", "second")
_WEEK = 7


def member(owner: Scalar, name: str) -> float:
    """Returns a member of a timestamp; `weekday` is 0 on Sundays. Raises ValueProblemError."""
    if not isinstance(owner, Timestamp):
        raise ValueProblemError(f"a {type_name(owner)} has no members")
    if name == "weekday":
        return float(owner.moment.isoweekday() % _WEEK)
    if name not in _MEMBERS:
        raise ValueProblemError(f"a timestamp has no member '{name}'")
    return float(getattr(owner.moment, name))
