"""Which principals are let in, and how often; test_access.py covers the rights that each function requires.

test_account_rights.py covers the accounts that they see, route by route.
"""

import base64
import json
from typing import Any

import azure.functions as func
import pytest

from functions.http.identity import Caller, ForbiddenError, UnauthenticatedError, identified, identify
from functions.http.rate_limit import RateLimit, TooManyRequestsError
from shared.domain.accounts.account_roles import Role
from shared.settings import read_settings

STORAGE = {"BATCH_ACCOUNTS": "https://demo.westeurope.batch.azure.com", "AzureWebJobsStorage__accountName": "store"}
LOCAL = STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Development"}
AZURE = STORAGE | {"WEBSITE_SITE_NAME": "batchscope"}
GUARDED = AZURE | {"WEBSITE_AUTH_ENABLED": "True"}
FORGED = "x" * 20
CLAIM = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"


def principal(*roles: str, kind: str = "roles", role_type: str | None = None) -> str:
    claims = [{"typ": "name", "val": "Operator"}, *({"typ": kind, "val": role} for role in roles)]
    value: dict[str, Any] = {"auth_typ": "aad", "claims": claims}
    return base64.b64encode(json.dumps(value | ({"role_typ": role_type} if role_type else {})).encode()).decode()


def outcome(environment: dict[str, str], header: str | None = None, role: Role = "Reader") -> int:
    """Returns the status that a caller with that principal gets, 200 if accepted."""
    settings, request = read_settings(environment), request_of(header)
    try:
        caller = identify(settings, request)
        assert identified(settings, request) == caller
        caller.require(role, "demo")
    except UnauthenticatedError:
        assert identified(settings, request) is None
        return 401
    except ForbiddenError:
        return 403
    return 200


def request_of(header: str | None) -> func.HttpRequest:
    headers = {"x-ms-client-principal": header} if header else {}
    return func.HttpRequest(method="GET", url="https://batchscope.example/api/route", headers=headers, body=b"")


def test_on_a_local_machine_every_caller_may_do_everything() -> None:
    assert outcome(LOCAL) == outcome(LOCAL, role="Operator") == 200


def test_elsewhere_nobody_has_access_without_easy_auth_regardless_of_headers() -> None:
    for environment in (STORAGE, STORAGE | {"AZURE_FUNCTIONS_ENVIRONMENT": "Production"}, AZURE):
        assert outcome(environment) == outcome(environment, principal("Operator")) == 401
        assert outcome(environment, principal("Operator"), "Operator") == 401


def test_behind_easy_auth_callers_need_an_identity_with_a_role() -> None:
    assert outcome(GUARDED) == 401
    assert outcome(GUARDED, principal()) == 403
    assert outcome(GUARDED, principal("Reader")) == 200
    assert outcome(GUARDED, principal("reader")) == 403


def test_the_refusal_of_a_caller_without_a_role_names_app_and_account_roles() -> None:
    with pytest.raises(ForbiddenError, match=r"'Reader'.*ACCOUNT_ROLES names the readers of an account"):
        identify(read_settings(GUARDED), request_of(principal()))


def test_readers_are_no_operators_and_operators_may_all_that_readers_may() -> None:
    assert outcome(GUARDED, principal("Reader"), "Operator") == 403
    assert outcome(GUARDED, principal("Operator"), "Operator") == 200
    assert outcome(GUARDED, principal("Operator")) == 200


def test_roles_are_found_under_the_claim_type_that_the_principal_names() -> None:
    assert outcome(GUARDED, principal("Reader", kind=CLAIM, role_type=CLAIM)) == 200
    assert outcome(GUARDED, principal("Reader", kind=CLAIM)) == 403


GROUP, OTHER_GROUP = "8a2f1c40-0000-4000-8000-00000000000a", "8a2f1c40-0000-4000-8000-00000000000b"
LONG_GROUPS = "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups"
MAPPED = GUARDED | {
    "BATCH_ACCOUNTS": " ".join(f"https://{name}.westeurope.batch.azure.com" for name in ("alpha", "bravo", "common")),
    "ACCOUNT_ROLES": f"alpha=Reader:Alpha.Reader, alpha=Operator:{GROUP} bravo=Reader:{OTHER_GROUP.upper()}",
}


def known(environment: dict[str, str], *claims: tuple[str, str]) -> Caller | None:
    """Returns a caller with these claims."""
    value = {"claims": [{"typ": kind, "val": value} for kind, value in claims]}
    return identified(read_settings(environment), request_of(base64.b64encode(json.dumps(value).encode()).decode()))


def test_without_the_setting_every_reader_reads_every_account_and_every_operator_operates_them() -> None:
    every = frozenset({"alpha", "bravo", "common"})
    environment = MAPPED | {"ACCOUNT_ROLES": ""}
    assert known(environment, ("roles", "Reader")) == Caller(every, frozenset(), reads_all=True)
    assert known(environment, ("roles", "Operator")) == Caller(every, every, reads_all=True, operates_all=True)


def test_an_account_with_entries_is_for_those_that_they_name_and_others_are_for_every_reader() -> None:
    alpha, common = frozenset({"alpha"}), frozenset({"common"})
    assert known(MAPPED, ("roles", "Alpha.Reader")) == Caller(alpha, frozenset(), reads_all=False)
    assert known(MAPPED, ("groups", GROUP.upper())) == Caller(alpha, alpha, reads_all=False)
    assert known(MAPPED, (LONG_GROUPS, OTHER_GROUP)) == Caller(frozenset({"bravo"}), frozenset(), reads_all=False)
    assert known(MAPPED, ("roles", "Reader")) == Caller(common, frozenset(), reads_all=False)
    assert known(MAPPED, ("roles", "Operator"), ("groups", OTHER_GROUP)) == Caller(
        frozenset({"bravo", "common"}), common, reads_all=False
    )
    everything = (("roles", "Reader"), ("roles", "Alpha.Reader"), ("groups", OTHER_GROUP))
    assert known(MAPPED, *everything) == Caller(alpha | common | {"bravo"}, frozenset(), reads_all=True)


def test_a_star_is_for_accounts_without_entries_of_their_own() -> None:
    environment = MAPPED | {"ACCOUNT_ROLES": "alpha=Reader:Alpha.Reader *=Reader:Rest.Reader"}
    assert known(environment, ("roles", "Rest.Reader")) == Caller(
        frozenset({"bravo", "common"}), frozenset(), reads_all=False
    )
    assert known(environment, ("roles", "Reader")) == Caller(frozenset(), frozenset(), reads_all=False)
    assert known(environment, ("roles", "Alpha.Reader")) == Caller(frozenset({"alpha"}), frozenset(), reads_all=False)


def test_with_an_entry_for_each_account_nobody_needs_reader_to_read_all() -> None:
    environment = MAPPED | {"ACCOUNT_ROLES": "alpha=Reader:A bravo=Reader:B common=Reader:B"}
    assert known(environment, ("roles", "A"), ("roles", "B")) == Caller(
        frozenset({"alpha", "bravo", "common"}), frozenset(), reads_all=True
    )
    mistaken = known(environment | {"POLL_SECONDS": "soon"}, ("roles", "A"), ("roles", "B"))
    assert mistaken is not None
    assert not mistaken.reads_all, "a problem of the settings may name an account without an entry"


def test_a_group_counts_by_its_object_id_only_and_never_as_a_role() -> None:
    assert known(MAPPED, ("groups", "Alpha.Reader")) is None
    assert known(MAPPED, ("groups", "Operator")) is None
    assert known(MAPPED, ("roles", GROUP)) is None
    assert known(MAPPED, ("name", GROUP)) is None


@pytest.mark.parametrize("overage", [("_claim_names", '{"groups":"src1"}'), ("hasgroups", "true")])
def test_a_group_overage_counts_as_no_groups(overage: tuple[str, str]) -> None:
    assert known(MAPPED, ("groups", GROUP), overage) is None
    assert known(MAPPED, ("groups", GROUP), overage, ("roles", "Reader")) == known(MAPPED, ("roles", "Reader"))
    principal_of = base64.b64encode(json.dumps({"claims": [{"typ": overage[0], "val": overage[1]}]}).encode())
    with pytest.raises(ForbiddenError, match="you are in too many"):
        identify(read_settings(MAPPED), request_of(principal_of.decode()))


def test_with_a_wrong_role_setting_only_a_local_machine_reads_all_accounts() -> None:
    wrong = MAPPED | {"ACCOUNT_ROLES": "alpha=Reader:Alpha.Reader alhpa=Operator:Alpha.Reader"}
    for role in ("Reader", "Operator", "Alpha.Reader"):
        caller = known(wrong, ("roles", role))
        assert caller is not None
        assert not caller.reads_all
    local = {**wrong, "AZURE_FUNCTIONS_ENVIRONMENT": "Development"}
    del local["WEBSITE_SITE_NAME"]
    assert identify(read_settings(local), request_of(None)).reads_all


@pytest.mark.parametrize(
    "header", [FORGED, "bm8ganNvbg==", base64.b64encode(b"[]").decode(), base64.b64encode(b"{}").decode(), "é"]
)
def test_a_malformed_principal_is_unauthenticated(header: str) -> None:
    assert outcome(GUARDED, header) == 401


def test_a_limit_lets_so_many_pass_a_minute() -> None:
    limit = RateLimit(3)
    for second in (0, 10, 20):
        limit.take(second)
    with pytest.raises(TooManyRequestsError) as caught:
        limit.take(30)
    assert caught.value.retry_after == 31
    limit.take(61)
    with pytest.raises(TooManyRequestsError):
        limit.take(62)
