"""The service's errors. Codes are those of the documentation's page "Batch status and error codes"."""

from collections.abc import Mapping
from dataclasses import dataclass, field

NOT_DONE = 501


@dataclass(slots=True)
class RefusedError(Exception):
    """An error answer: status, code, message, details, and additional headers."""

    status: int
    code: str
    message: str
    values: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def missing(kind: str) -> RefusedError:
    return RefusedError(404, f"{kind}NotFound", f"The specified {kind.lower()} does not exist.")


def exists(kind: str) -> RefusedError:
    return RefusedError(409, f"{kind}Exists", f"The specified {kind.lower()} already exists.")


def conflict(code: str, message: str) -> RefusedError:
    return RefusedError(409, code, message)


def bad_query(name: str, value: str, reason: str) -> RefusedError:
    return RefusedError(
        400,
        "InvalidQueryParameterValue",
        "The value of a query parameter in the request's address is invalid.",
        {"QueryParameterName": name, "QueryParameterValue": value, "Reason": reason},
    )


def out_of_range(name: str, value: str, least: int, most: int) -> RefusedError:
    return RefusedError(
        400,
        "OutOfRangeQueryParameterValue",
        "The value of a query parameter in the request's address is outside the permitted range.",
        {
            "QueryParameterName": name,
            "QueryParameterValue": value,
            "MinimumAllowed": str(least),
            "MaximumAllowed": str(most),
        },
    )


def bad_property(name: str, value: object, reason: str) -> RefusedError:
    return RefusedError(
        400,
        "InvalidPropertyValue",
        "The value of a property in the request's body is invalid.",
        {"PropertyName": name, "PropertyValue": str(value), "Reason": reason},
    )


def absent_property(name: str) -> RefusedError:
    return RefusedError(
        400,
        "MissingRequiredProperty",
        "A required property was not specified in the request's body.",
        {"PropertyName": name},
    )


def bad_header(name: str, value: str) -> RefusedError:
    return RefusedError(
        400,
        "InvalidHeaderValue",
        "The value of an HTTP header is not in the correct format.",
        {"HeaderName": name, "HeaderValue": value},
    )


def unreadable(reason: str) -> RefusedError:
    return RefusedError(400, "InvalidRequestBody", "The request's body is not syntactically valid.", {"Reason": reason})


def undone(what: str) -> RefusedError:
    """Returns the error for a feature of the service that the emulator lacks."""
    return RefusedError(NOT_DONE, "NotImplemented", f"The emulator does not do this: {what}.", {"Operation": what})
