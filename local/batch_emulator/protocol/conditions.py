"""Conditional headers: honoured where the API reference lists them, rejected with 400 elsewhere, never ignored."""

from collections.abc import Collection, Mapping

from local.batch_emulator.core.errors import BatchError, invalid_header
from local.batch_emulator.core.stamps import SECOND, etag, parse_http_date

DATED = ("if-modified-since", "if-unmodified-since")
CONDITIONAL = ("if-match", "if-none-match", *DATED)


def reject_conditions(headers: Mapping[str, str], supported: Collection[str]) -> None:
    """Raises BatchError for a conditional header that the operation doesn't support."""
    for name in CONDITIONAL:
        if name in headers and name not in supported:
            raise BatchError(
                400,
                "UnsupportedHeader",
                "An HTTP header of the request is not supported by this operation.",
                {"HeaderName": name, "HeaderValue": headers[name]},
            )


def check_conditions(headers: Mapping[str, str], modified: int, *, is_read: bool) -> None:
    """Raises BatchError: 412, or 304 for a conditional read without changes."""
    tag, second = etag(modified), modified - modified % SECOND
    if "if-match" in headers and not _includes(headers["if-match"], tag):
        raise _unmet(412)
    if "if-unmodified-since" in headers and second > _date("if-unmodified-since", headers):
        raise _unmet(412)
    if "if-none-match" in headers and _includes(headers["if-none-match"], tag):
        raise _unmet(304 if is_read else 412)
    if "if-modified-since" in headers and second <= _date("if-modified-since", headers):
        raise _unmet(304 if is_read else 412)


def _includes(header: str, tag: str) -> bool:
    tags = {each.strip().removeprefix("W/").strip('"') for each in header.split(",")}
    return "*" in tags or tag in tags


def _date(name: str, headers: Mapping[str, str]) -> int:
    try:
        return parse_http_date(headers[name])
    except ValueError:
        raise invalid_header(name, headers[name]) from None


def _unmet(status: int) -> BatchError:
    return BatchError(status, "ConditionNotMet", "The condition in a conditional header of the request is not met.")
