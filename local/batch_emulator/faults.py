"""The service's errors, each with its documented code."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class BatchFaultError(Exception):
    """An error answer: status, code, a sentence, details, and headers beside the usual ones."""

    status: int
    code: str
    message: str
    values: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def not_found(kind: str) -> BatchFaultError:
    return BatchFaultError(404, f"{kind}NotFound", f"The specified {kind.lower()} does not exist.")


def exists(kind: str) -> BatchFaultError:
    return BatchFaultError(409, f"{kind}Exists", f"The specified {kind.lower()} already exists.")


def bad_query(name: str, value: str, reason: str) -> BatchFaultError:
    return BatchFaultError(
        400,
        "InvalidQueryParameterValue",
        "Value for one of the query parameters specified in the request URI is invalid.",
        {"QueryParameterName": name, "QueryParameterValue": value, "Reason": reason},
    )


def bad_property(name: str, value: object, reason: str) -> BatchFaultError:
    return BatchFaultError(
        400,
        "InvalidPropertyValue",
        "The value provided for one of the properties in the request body is invalid.",
        {"PropertyName": name, "PropertyValue": str(value), "Reason": reason},
    )


def bad_header(name: str, value: str, reason: str) -> BatchFaultError:
    return BatchFaultError(
        400,
        "InvalidHeaderValue",
        "The value provided for one of the HTTP headers was not in the correct format.",
        {"HeaderName": name, "HeaderValue": value, "Reason": reason},
    )


def wrong_state(code: str, message: str) -> BatchFaultError:
    return BatchFaultError(409, code, message)


def unsupported(operation: str) -> BatchFaultError:
    return BatchFaultError(501, "NotImplemented", f"The emulator doesn't do {operation} yet.")
