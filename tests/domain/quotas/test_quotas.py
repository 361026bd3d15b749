"""Quotas: what counts as use, which limits hold, when one is reached, and what is said where something isn't known."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from shared.domain.accounts.accounts import parse_accounts
from shared.domain.nodes.nodes import NodeSummary, SizeSummary
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pools import NodesSnapshot, Pool
from shared.domain.quotas.account_quotas import Quota, StoredQuotas, quotas_of
from shared.domain.quotas.core_quotas import core_quota, quota_evidence, quota_sentence
from shared.domain.quotas.quota_days import reached_at, with_use
from shared.domain.quotas.quota_findings import quota_finding
from shared.domain.quotas.quota_limits import QuotaLimits, account_resource
from shared.domain.quotas.quota_settings import QuotaSettings
from shared.domain.quotas.quota_use import (
    DEDICATED,
    JOBS,
    POOLS,
    SPOT,
    QuotaKey,
    QuotaUse,
    active_jobs,
    family_of,
    quota_use,
)
from shared.domain.quotas.resource_ids import resource_ids

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
TODAY = int(NOW.timestamp()) // 86_400
DSV5 = QuotaKey("familyCores", "standarddsv5family")
LIMITS = QuotaLimits(NOW, "BatchService", 100, 50, 20, 300, {"standarddsv5family": 32, "standardev3family": 0}, True)
GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg_1.x/providers/Microsoft.Batch"


def pool(counts: tuple[tuple[str, bool, int], ...], *sizes: tuple[str, int]) -> Pool:
    total = sum(number for _, _, number in counts)
    own = sizes or (("Standard_D4s_v5", total),)
    summary = NodeSummary(counts, sizes=tuple(SizeSummary(size, number, number, 0) for size, number in own))
    facts = PoolFacts("p", NOW, "active", NOW, own[0][0], dedicated=Size(total, total))
    return Pool(facts, NOW, snapshot=NodesSnapshot(NOW, NOW, "fullRead", summary, "d"))


def document(**properties: object) -> bytes:
    body = {"poolAllocationMode": "BatchService", "poolQuota": 20, "accountEndpoint": "demo.eu.batch.azure.com"}
    return msgspec.json.encode({"name": "demo", "tags": None, "properties": body | properties})


@pytest.mark.parametrize(
    ("size", "family"),
    [
        ("Standard_D4s_v5", "standardDSv5Family"),
        ("standard_d4as_v5", "standardDASv5Family"),
        ("Standard_D4_v3", "standardDv3Family"),
        ("STANDARD_DS3_V2", "standardDSv2Family"),
        ("Standard_E8-2s_v5", "standardESv5Family"),
        ("Standard_HB120rs_v3", "standardHBrsv3Family"),
        ("Standard_NC24ads_A100_v4", "StandardNCADSA100v4Family"),
        ("Standard_F4", "standardFFamily"),
        ("mix", None),
    ],
)
def test_families_follow_from_names_of_sizes(size: str, family: str | None) -> None:
    assert family_of(size) == (family and family.lower())


def test_cores_of_nodes_with_a_machine_count_by_kind_and_family() -> None:
    mixed = pool((("idle", True, 2), ("unusable", True, 1), ("running", False, 3), ("preempted", False, 4)))
    use = quota_use([mixed], 7)
    assert (use.of(DEDICATED), use.of(SPOT), use.of(DSV5), use.of(POOLS), use.of(JOBS)) == (12, 12, 12, 1, 7)
    assert use.unknown_nodes == 0


def test_nodes_of_unknown_cores_or_kinds_are_counted_as_such() -> None:
    unnamed = pool((("idle", True, 3),), ("Standard_Strange", 3))
    several = pool((("idle", True, 2), ("idle", False, 1)), ("Standard_D4s_v5", 2), ("Standard_D8s_v5", 1))
    unread = replace(several, snapshot=None)
    use = quota_use([unnamed, several, unread], 0)
    assert (use.of(DEDICATED), use.unknown_nodes, use.of(POOLS)) == (0, 3 + 3 + 3, 3)
    one_kind = pool((("idle", True, 3),), ("Standard_D4s_v5", 2), ("Standard_D8s_v5", 1))
    assert quota_use([one_kind], 0).of(DEDICATED) == 16


def test_tags_are_kept_under_the_names_that_the_setting_has_in_any_case() -> None:
    tags = {"costcenter": "4711", "TEAM": "render", "stage": None, "owner": "somebody"}
    body = msgspec.json.encode({"tags": tags, "properties": {}})
    found = account_resource(body, NOW, ("CostCenter", "team", "stage"))
    assert found.limits.tags == {"CostCenter": "4711", "team": "render"}


def test_jobs_that_completed_do_not_count() -> None:
    assert active_jobs({"active": 2, "disabled": 1, "completed": 9, "terminating": 1}) == 4


def test_the_document_has_limits_and_the_host_of_the_account() -> None:
    families = [{"name": "standardDSv5Family", "coreQuota": 32}]
    found = account_resource(
        document(
            dedicatedCoreQuota=100, lowPriorityCoreQuota=0, dedicatedCoreQuotaPerVMFamily=families,
            dedicatedCoreQuotaPerVMFamilyEnforced=True, activeJobAndJobScheduleQuota=300,
        ),
        NOW,
    )  # fmt: skip
    assert found.host == "demo.eu.batch.azure.com"
    assert found.limits == QuotaLimits(
        NOW, "BatchService", 100, 0, 20, 300, {"standarddsv5family": 32}, enforced=True
    )  # fmt: skip


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"properties": 7}', document(poolQuota=-1), document(dedicatedCoreQuota="many")]
)
def test_nonsense_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        account_resource(body, NOW)


def test_quotas_have_limit_use_and_share_with_families_that_have_a_limit_or_nodes() -> None:
    use = QuotaUse({DEDICATED: 24, DSV5: 16, QuotaKey("familyCores", "standardmmsfamily"): 8, POOLS: 3, JOBS: 5})
    found = {one.key: one for one in quotas_of(StoredQuotas(LIMITS), use, NOW)}
    assert found[DEDICATED] == Quota(DEDICATED, 24, 100)
    assert (found[SPOT].used, found[SPOT].share) == (0, 0.0)
    assert found[DSV5].share == 0.5
    other = found[QuotaKey("familyCores", "standardmmsfamily")]
    assert (other.limit, other.no_limit, other.share) == (None, "notReported", None)
    assert QuotaKey("familyCores", "standardev3family") not in found


def test_families_that_are_not_enforced_have_no_quota() -> None:
    found = quotas_of(StoredQuotas(replace(LIMITS, enforced=False)), QuotaUse({DSV5: 16}), NOW)
    assert [one.key for one in found] == [DEDICATED, SPOT, POOLS, JOBS]


def test_cores_of_an_account_in_the_users_subscription_have_no_limit_here() -> None:
    limits = QuotaLimits(NOW, "UserSubscription", None, None, 20, 300)
    found = {one.key: one for one in quotas_of(StoredQuotas(limits), QuotaUse({DEDICATED: 8}), NOW)}
    assert (found[DEDICATED].limit, found[DEDICATED].no_limit, found[DEDICATED].used) == (None, "userSubscription", 8)
    assert (found[POOLS].limit, found[SPOT].no_limit) == (20, "userSubscription")


def test_quotas_that_were_never_read_have_a_reason_and_their_use() -> None:
    use = QuotaUse({POOLS: 3})
    unread = {one.key: one for one in quotas_of(StoredQuotas(), use, NOW, "idUnknown")}
    assert (unread[POOLS].limit, unread[POOLS].used, unread[POOLS].no_limit) == (None, 3, "idUnknown")
    failed = StoredQuotas().failed("It's broken.", NOW)
    assert {one.no_limit for one in quotas_of(failed, use, NOW)} == {"failed"}
    assert failed.problem == ("Quotas couldn't be read since 2026-11-30 09:00 UTC, so known limits go on: It's broken.")


def test_known_limits_go_on_after_a_failure_which_a_read_ends() -> None:
    known = StoredQuotas(LIMITS).failed("first", NOW).failed("second", NOW + timedelta(hours=1))
    assert (known.limits, known.failed_since, known.reason) == (LIMITS, NOW, "second")
    assert known.read(LIMITS).problem == ""


def test_the_largest_use_of_each_of_eight_days_is_kept() -> None:
    days = with_use({}, QuotaUse({DEDICATED: 8}), TODAY)
    days = with_use(days, QuotaUse({DEDICATED: 4, POOLS: 1}), TODAY)
    assert days == {TODAY: {DEDICATED: 8, POOLS: 1}}
    for later in range(1, 12):
        days = with_use(days, QuotaUse({DEDICATED: later}), TODAY + later)
    assert list(days) == list(range(TODAY + 4, TODAY + 12))
    assert list(with_use(days, QuotaUse(), TODAY + 20)) == [TODAY + 20]


def growing(*use: int) -> dict[int, dict[QuotaKey, int]]:
    return {TODAY - len(use) + 1 + number: {DEDICATED: one} for number, one in enumerate(use)}


def test_a_limit_is_reached_at_the_rate_of_the_last_days() -> None:
    assert reached_at(growing(10, 20, 30, 40), DEDICATED, used=40, limit=100, now=NOW) == NOW + timedelta(days=6)
    assert reached_at(growing(40, 20, 30), DEDICATED, used=30, limit=100, now=NOW) is None
    assert reached_at(growing(20, 30), DEDICATED, used=30, limit=100, now=NOW) is None
    assert reached_at(growing(30, 30, 31), DEDICATED, used=31, limit=1000, now=NOW) is None
    assert reached_at(growing(30), DEDICATED, used=100, limit=100, now=NOW) == NOW


def test_an_estimate_is_an_hour_that_is_the_same_for_all_answers_within_an_hour() -> None:
    for minutes in (0, 13, 59):
        now = NOW + timedelta(minutes=minutes, microseconds=minutes)
        found = reached_at(growing(10, 17, 24), DEDICATED, used=24, limit=100, now=now)
        assert found == NOW + timedelta(hours=76 * 24 // 7)
        assert reached_at(growing(30), DEDICATED, used=100, limit=100, now=now) == NOW


def test_a_quota_is_named_where_90_percent_are_used_or_a_week_is_left() -> None:
    one = quota_finding("demo", Quota(DEDICATED, 90, 100), NOW, NOW)
    assert one
    assert one.title == "90 % of the quota of dedicated cores is used"
    assert one.sentence == "The account may have 100 dedicated cores, and 90 are in use."
    assert quota_finding("demo", Quota(DEDICATED, 89, 100), NOW, NOW) is None
    soon = quota_finding("demo", Quota(DSV5, 10, 32, None, NOW + timedelta(days=6)), NOW, NOW)
    assert soon
    assert "of the VM family standarddsv5family" in soon.sentence
    assert soon.sentence.endswith("the limit is reached on 2026-12-06.")
    assert quota_finding("demo", Quota(DSV5, 10, 32, None, NOW + timedelta(days=8)), NOW, NOW) is None
    assert quota_finding("demo", Quota(DEDICATED, 5, None, "failed"), NOW, NOW) is None
    assert quota_finding("demo", Quota(SPOT, 0, 0, None, NOW), NOW, NOW) is None


def test_an_error_of_a_resize_has_the_figures_of_its_quota() -> None:
    quotas = [Quota(DEDICATED, 96, 100), Quota(SPOT, 5, None, "notReported"), Quota(DSV5, 30, 32)]
    assert core_quota("AccountCoreQuotaReached", "standard_d4s_v5", quotas) == quotas[0]
    assert core_quota("AccountVMSeriesCoreQuotaReached", "Standard_D4s_v5", quotas) == quotas[2]
    assert core_quota("AccountLowPriorityCoreQuotaReached", "standard_d4s_v5", quotas) is None
    assert core_quota("AllocationFailed", "standard_d4s_v5", quotas) is None
    assert quota_sentence(quotas[0]) == " The account may have 100 such cores, and 96 are in use."
    assert (quota_sentence(None), quota_evidence(None)) == ("", {})
    assert quota_evidence(quotas[0]) == {"coreQuota": 100, "coresUsed": 96}


def test_ids_belong_to_all_accounts_of_their_name_and_wrong_ones_are_named() -> None:
    accounts, _ = parse_accounts("https://demo.eu.batch.azure.com https://demo.us.batch.azure.com")
    one, other = f"{GROUP}/batchAccounts/Demo", f"{GROUP.replace('rg_1', 'rg2')}/batchAccounts/demo"
    found, problems = resource_ids(f"{one}/ , {other},", accounts)
    assert (found, problems) == ({"demo.eu": (one, other), "demo.us": (one, other)}, ())
    _, problems = resource_ids(f"{GROUP}/batchAccounts/another {GROUP}", accounts)
    assert [problem.partition(" is ")[0] for problem in problems] == ["'another'", f"'{GROUP}'"]
    assert resource_ids("/subscriptions/../x", accounts)[1]


def test_each_cloud_has_its_resource_manager_and_this_machine_only_one_of_its_own() -> None:
    accounts, _ = parse_accounts(
        "https://one.eu.batch.azure.com https://two.x.batch.usgovcloudapi.net"
        " https://three.x.batch.chinacloudapi.cn four=http://127.0.0.1:7"
    )
    ids = {account.id: ("/subscriptions/s",) for account in accounts}
    settings = QuotaSettings(ids=ids)
    assert [settings.endpoint_of(account) for account in accounts] == [
        "https://management.azure.com",
        "https://management.usgovcloudapi.net",
        "https://management.chinacloudapi.cn",
        None,
    ]
    assert [bool(settings.requests_for(account)) for account in accounts] == [True, True, True, False]
    assert replace(settings, local_url="http://127.0.0.1:8").requests_for(accounts[3])
    assert [settings.unread(account) for account in accounts] == ["notReadYet"] * 3 + ["idUnknown"]
    assert replace(settings, reads=False).unread(accounts[0]) == "off"
