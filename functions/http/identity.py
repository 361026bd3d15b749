"""Identifies callers by the Microsoft Entra ID app roles and groups that App Service authentication passes on.

`X-MS-CLIENT-PRINCIPAL` is trustworthy only behind App Service authentication (Easy Auth), which removes forged headers.
Without it the API is closed, wherever the app runs. The exception is a host that declares itself a development machine
(`AZURE_FUNCTIONS_ENVIRONMENT`), as only that machine reaches it.

Sources: "Work with user identities in Azure App Service authentication" (the header is base64 of JSON with `role_typ`
and `claims`, each of `typ` and `val`); "Access tokens in the Microsoft identity platform" (the groups overage claim: a
user in more than 200 groups has no `groups` claim, but `_claim_names` or `hasgroups`).
"""

import base64
import binascii
from dataclasses import dataclass

import azure.functions as func
import msgspec

from shared.domain.accounts.account_roles import OTHERS, Role, is_group
from shared.errors import BatchscopeError, SettingsError
from shared.services.accounts.registry import found
from shared.settings import Settings

_HEADER = "x-ms-client-principal"
_ROLES = "roles"
_GROUPS = frozenset({"groups", "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups"})
_OVERAGE = frozenset({"_claim_names", "hasgroups"})
_NO_ROLE = (
    "You have no role in Batchscope. Ask its administrators for the app role 'Reader' in Microsoft Entra ID or, where"
    " ACCOUNT_ROLES names the readers of an account, for an app role or group that it names."
)
_NOT_OPERATED = (
    "This needs the role Operator of this account, by an app role or group of Microsoft Entra ID; Batchscope's"
    " administrators assign these."
)
_NOT_OPERATOR_OF_ALL = (
    "This concerns every account and needs the role Operator of all of them, by app roles or groups of Microsoft Entra"
    " ID; Batchscope's administrators assign these."
)
_TOO_MANY_GROUPS = (
    " Your sign-in names no groups, as you are in too many: an app role works, or a registration that names only groups"
    " assigned to it."
)
HIDDEN = (
    "The app's settings or its storage keep it from working. Its log says why, and so does /api/health to callers who"
    " may read every account."
)
"""Replaces error sentences that may name accounts hidden from the caller."""


class UnauthenticatedError(BatchscopeError):
    """The caller is not authenticated."""


class ForbiddenError(BatchscopeError):
    """The caller is authenticated but lacks a role."""


class _Claim(msgspec.Struct):
    typ: str
    val: str


class _Principal(msgspec.Struct):
    claims: list[_Claim]
    role_typ: str = _ROLES


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller's rights: the ids of the watched accounts that it may read and operate.

    `reads_all` and `operates_all` also cover accounts that are in ACCOUNT_ROLES but not watched.
    """

    reads: frozenset[str]
    operates: frozenset[str]
    reads_all: bool
    operates_all: bool = False

    def require(self, role: Role, account: str) -> None:
        """Raises ForbiddenError if the role is Operator and the caller may only read this account."""
        if role == "Operator" and account not in self.operates:
            raise ForbiddenError(_NOT_OPERATED)

    def require_operator_of_all(self) -> None:
        """Raises ForbiddenError unless the caller has the role Operator in every account."""
        if not self.operates_all:
            raise ForbiddenError(_NOT_OPERATOR_OF_ALL)


def admitted(settings: Settings, role: Role | None, request: func.HttpRequest) -> Caller | None:
    """Returns the caller of a route that requires `role`. An account that the caller may not read appears not to exist.

    A writing route without an account in its path concerns all accounts. Raises UnauthenticatedError, ForbiddenError,
    NotFoundError, SettingsError.
    """
    if role is None:
        return identified(settings, request)
    caller = identify(settings, request)
    if "account" in request.route_params:
        require_settings(settings, caller)
        readable = {name: name for name in caller.reads}
        caller.require(role, found(readable, request.route_params["account"]))
    elif role == "Operator":
        require_settings(settings, caller)
        caller.require_operator_of_all()
    return caller


def identify(settings: Settings, request: func.HttpRequest) -> Caller:
    """Returns the caller. Raises UnauthenticatedError, or ForbiddenError where the caller has no role of this app."""
    names = frozenset(account.id for account in settings.accounts)
    if settings.is_local:
        return Caller(names, names, reads_all=True, operates_all=True)
    if not settings.behind_easy_auth:
        raise UnauthenticatedError(
            "This API is closed until authentication is set up: turn on App Service authentication (Easy Auth)."
        )
    principal = _principal(request)
    assigned, roles = _assigned(principal), settings.account_roles
    if not roles.knows(assigned):
        hint = _TOO_MANY_GROUPS if _has_too_many_groups(principal) else ""
        raise ForbiddenError(_NO_ROLE + hint)
    every = {*names, OTHERS} if settings.problems else names  # problems may name accounts outside `names`
    return Caller(
        roles.allowed("Reader", assigned, names),
        roles.allowed("Operator", assigned, names),
        reads_all=roles.allows_all("Reader", assigned, every),
        operates_all=roles.allows_all("Operator", assigned, every),
    )


def identified(settings: Settings, request: func.HttpRequest) -> Caller | None:
    """Returns the caller, or None if it is unauthenticated or has no role."""
    try:
        return identify(settings, request)
    except (UnauthenticatedError, ForbiddenError):
        return None


def require_settings(settings: Settings, caller: Caller | None) -> None:
    """Raises SettingsError if settings are wrong, with details only for callers who may read every account."""
    if settings.problems:
        raise SettingsError(settings.problems if caller and caller.reads_all else (HIDDEN,))


def _principal(request: func.HttpRequest) -> _Principal:
    header = request.headers.get(_HEADER)
    if not header:
        raise UnauthenticatedError("Sign in, or send a token of Microsoft Entra ID.")
    try:
        return msgspec.json.decode(base64.b64decode(header, validate=True), type=_Principal)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise UnauthenticatedError("The principal that App Service authentication passed on makes no sense.") from error


def _assigned(principal: _Principal) -> frozenset[str]:
    """Returns app roles and group object ids; no groups where the principal lists them incompletely."""
    kinds = (principal.role_typ, _ROLES)
    roles = {claim.val for claim in principal.claims if claim.typ in kinds and not is_group(claim.val)}
    if _has_too_many_groups(principal):
        return frozenset(roles)
    return frozenset(roles | {c.val.lower() for c in principal.claims if c.typ in _GROUPS and is_group(c.val)})


def _has_too_many_groups(principal: _Principal) -> bool:
    return any(claim.typ in _OVERAGE for claim in principal.claims)
