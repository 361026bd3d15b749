"""The service's errors. Codes are those of the documentation's page "Batch status and error codes"."""

from collections.abc import Mapping
from dataclasses import dataclass, field

NOT_IMPLEMENTED = 501


@dataclass(slots=True)
class BatchError(Exception):
    """An error response: status, code, message, details, and additional headers."""

    status: int
    code: str
    message: str
    values: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def not_found(kind: str) -> BatchError:
    return BatchError(404, f"{kind}NotFound", f"The specified {kind.lower()} does not exist.")


def already_exists(kind: str) -> BatchError:
    return BatchError(409, f"{kind}Exists", f"The specified {kind.lower()} already exists.")


def conflict(code: str, message: str) -> BatchError:
    return BatchError(409, code, message)


def invalid_query(name: str, value: str, reason: str) -> BatchError:
    return BatchError(
        400,
        "InvalidQueryParameterValue",
        "The value of a query parameter in the request's address is invalid.",
        {"QueryParameterName": name, "QueryParameterValue": value, "Reason": reason},
    )


def out_of_range(name: str, value: str, minimum: int, maximum: int) -> BatchError:
    return BatchError(
        400,
        "OutOfRangeQueryParameterValue",
        "The value of a query parameter in the request's address is outside the permitted range.",
        {
            "QueryParameterName": name,
            "QueryParameterValue": value,
            "MinimumAllowed": str(minimum),
            "MaximumAllowed": str(maximum),
        },
    )


def invalid_property(name: str, value: object, reason: str) -> BatchError:
    return BatchError(
        400,
        "InvalidPropertyValue",
        "The value of a property in the request's body is invalid.",
        {"PropertyName": name, "PropertyValue": str(value), "Reason": reason},
    )


def missing_property(name: str) -> BatchError:
    return BatchError(
        400,
        "MissingRequiredProperty",
        "A required property was not specified in the request's body.",
        {"PropertyName": name},
    )


def invalid_header(name: str, value: str) -> BatchError:
    return BatchError(
        400,
        "InvalidHeaderValue",
        "The value of an HTTP header is not in the correct format.",
        {"HeaderName": name, "HeaderValue": value},
    )


def invalid_body(reason: str) -> BatchError:
    return BatchError(400, "InvalidRequestBody", "The request's body is not syntactically valid.", {"Reason": reason})


def not_implemented(operation: str) -> BatchError:
    """Returns the error for a feature of the service that the emulator lacks."""
    return BatchError(
        NOT_IMPLEMENTED, "NotImplemented", f"The emulator does not do this: {operation}.", {"Operation": operation}
    )
