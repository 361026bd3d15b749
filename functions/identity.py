"""Who calls, and what they may do: the app roles of Microsoft Entra ID, as App Service authentication passes them on.

`X-MS-CLIENT-PRINCIPAL` is worth something only behind App Service authentication (Easy Auth), which removes forged
ones. Without it the API is closed, wherever the app runs; it is open only where the host says that it is one for
development on a person's own machine (`AZURE_FUNCTIONS_ENVIRONMENT`), as only that machine reaches it.

Source: "Work with user identities in Azure App Service authentication" (the header is base64 of JSON with `role_typ`
and `claims`, each of `typ` and `val`).
"""

import base64
import binascii
from typing import Literal

import azure.functions as func
import msgspec

from shared.errors import BatchscopeError
from shared.settings import Settings

type Role = Literal["Reader", "Operator"]

_HEADER = "x-ms-client-principal"
_ROLES = "roles"


class UnauthenticatedError(BatchscopeError):
    """Nobody vouches for the caller."""


class ForbiddenError(BatchscopeError):
    """The caller is known and lacks a role."""


class _Claim(msgspec.Struct):
    typ: str
    val: str


class _Principal(msgspec.Struct):
    claims: list[_Claim]
    role_typ: str = _ROLES


def require(settings: Settings, request: func.HttpRequest, role: Role) -> None:
    """Lets a caller with the role pass; an Operator may all that a Reader may.

    Raises UnauthenticatedError, ForbiddenError.
    """
    if settings.is_local:
        return
    if not settings.behind_easy_auth:
        raise UnauthenticatedError(
            "This API is closed until authentication is set up: turn on App Service authentication (Easy Auth)."
        )
    roles = _roles(request)
    if roles.isdisjoint({role, "Operator"}):
        raise ForbiddenError(
            f"This needs the app role '{role}' of Batchscope, which its administrators assign in Microsoft Entra ID."
        )


def may(settings: Settings, request: func.HttpRequest, role: Role) -> bool:
    """Whether `require` would let the caller pass."""
    try:
        require(settings, request, role)
    except (UnauthenticatedError, ForbiddenError):
        return False
    return True


def _roles(request: func.HttpRequest) -> set[str]:
    header = request.headers.get(_HEADER)
    if not header:
        raise UnauthenticatedError("Sign in, or send a token of Microsoft Entra ID.")
    try:
        principal = msgspec.json.decode(base64.b64decode(header, validate=True), type=_Principal)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise UnauthenticatedError("The principal that App Service authentication passed on makes no sense.") from error
    return {claim.val for claim in principal.claims if claim.typ in (principal.role_typ, _ROLES)}
