import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.history.grains import HistoryRetention
from shared.errors import SettingsError
from shared.settings import read_settings

KEY = "c2VjcmV0"
ENOUGH = {
    "BATCH_ACCOUNTS": "demo=http://127.0.0.1:8900",
    "BATCH_ACCOUNT_KEYS": f"demo={KEY}",
    "AzureWebJobsStorage": "UseDevelopmentStorage=true",
}


def problems_of(**changes: str) -> tuple[str, ...]:
    return read_settings(ENOUGH | changes).problems


def test_wrong_announcements_of_retirements_are_named_all_with_entry_and_reason() -> None:
    (problem,) = problems_of(RETIREMENTS='[7, {"id": "x", "lastDay": "1 May"}]')
    assert problem.startswith("RETIREMENTS: Entry 1 of the announcements can't be read: Expected `object`, got `int`. ")
    assert "Entry 2 of the announcements can't be read: " in problem
    assert not problem.endswith(".")


def test_an_announcement_of_ones_own_may_have_the_id_of_one_that_comes_with_the_app() -> None:
    entry = {
        "id": "ubuntu-22.04", "what": "Ubuntu 22.04", "when": {"nodeAgentSku": ["batch.node.ubuntu 22.04"]},
        "lastDay": "2027-09-30", "effect": "No nodes.", "instead": "Ubuntu 24.04.", "source": "https://example.org/1",
        "readOn": "2026-11-29",
    }  # fmt: skip
    settings = read_settings(ENOUGH | {"RETIREMENTS": json.dumps([entry])})
    assert (settings.problems, [one.id for one in settings.retirements]) == ((), ["ubuntu-22.04"])


OWN_PRICE = {
    "vmSize": "*", "region": "*", "os": "*", "priority": "*", "currency": "EUR", "hourly": 0.1, "from": "2026-01-01",
}  # fmt: skip


def test_own_prices_count_only_where_the_source_of_prices_includes_them() -> None:
    given = {"PRICE_FILE": json.dumps([OWN_PRICE]), "PRICE_CURRENCY": "EUR"}
    found = {
        source: read_settings(ENOUGH | given | {"PRICE_SOURCE": source}) for source in ("both", "file", "retail", "off")
    }
    assert [settings.problems for settings in found.values()] == [()] * 4
    assert [len(settings.price_entries) for settings in found.values()] == [1, 1, 0, 0]


def test_all_wrong_own_prices_are_named_with_entry_and_reason() -> None:
    (problem,) = problems_of(PRICE_FILE=json.dumps([7, OWN_PRICE]))
    assert problem.startswith("PRICE_FILE: Entry 1 of the prices can't be read: Expected `object`, got `int`. Entry 2 ")
    assert problem.endswith("can't be used: its currency isn't USD, the one of PRICE_CURRENCY")


def test_regions_of_prices_are_those_of_watched_accounts() -> None:
    assert read_settings(ENOUGH).price_regions == {}
    assert read_settings(ENOUGH | {"PRICE_REGIONS": "Demo=WestEurope"}).price_regions == {"demo": "westeurope"}
    (problem,) = problems_of(PRICE_REGIONS="other=westeurope")
    assert problem == "PRICE_REGIONS: 'other' is none of the watched accounts"


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/prices", "https://a.example/p?x=1", "https://me@a.example/p", "prices"]
)
def test_an_address_of_prices_that_would_send_requests_elsewhere_is_a_problem(url: str) -> None:
    (problem,) = problems_of(RETAIL_PRICES_URL=url)
    assert problem.startswith("RETAIL_PRICES_URL: ")


def test_required_settings_suffice_and_the_rest_has_defaults() -> None:
    settings = read_settings(ENOUGH)
    settings.require()
    assert settings.keys == {"demo": KEY}
    assert settings.poll_interval == timedelta(seconds=60)
    assert settings.tick_budget == timedelta(seconds=45)
    assert settings.overlap == timedelta(seconds=30)
    assert settings.full_list_interval == timedelta(minutes=15)
    assert settings.job_horizon == timedelta(days=7)
    assert settings.full_read_age == timedelta(hours=24)
    assert settings.deleted_job_retention == timedelta(days=30)
    assert settings.history_retention == HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))
    assert settings.operation_retention == timedelta(days=7)
    assert settings.housekeeping_schedule == "0 17 * * * *"
    assert settings.tick_schedule == "0 * * * * *"
    assert settings.table_prefix == ""
    assert settings.output_days == {"": timedelta(days=30)}
    assert (settings.output_bytes_a_day, settings.output_tasks_a_minute) == ({"": 200_000_000}, {"": 60})
    assert settings.output_tasks_of_each == {"": 5}
    assert settings.pool_api_version == "2025-06-01"
    assert settings.event_retention == timedelta(days=90)
    assert settings.telemetry_retention == timedelta(days=7)
    assert settings.telemetry_hour_retention == timedelta(days=90)
    assert settings.telemetry_container == "telemetry"
    assert settings.telemetry_path == "accounts/{account}/pools/{pool}/nodes/{node}/**/*"
    assert settings.resource_log_container == "insights-logs-servicelog"
    assert not settings.ingestion_enabled
    assert settings.clock_url is None
    assert (settings.price_source, settings.price_currency, settings.price_entries) == ("both", "USD", ())
    assert settings.price_url == "https://prices.azure.com/api/retail/prices"


def test_an_empty_environment_names_every_missing_setting() -> None:
    problems = read_settings({}).problems
    assert [problem.split()[0] for problem in problems] == ["BATCH_ACCOUNTS", "AzureWebJobsStorage"]
    assert all("is missing" in problem for problem in problems)


def test_blank_settings_are_missing_settings() -> None:
    blank = dict.fromkeys(("BATCH_ACCOUNTS", "AzureWebJobsStorage", "POLL_SECONDS", "CLOCK_URL"), "  ")
    assert read_settings(blank).problems == read_settings({}).problems


WRONG = {
    "BATCH_ACCOUNTS": "nonsense",
    "BATCH_ACCOUNT_KEYS": "other=c2VjcmV0",
    "AzureWebJobsStorage": "nonsense",
    "POLL_SECONDS": "soon",
    "TICK_BUDGET_SECONDS": "0",
    "POLL_OVERLAP_SECONDS": "-30",
    "FULL_LIST_MINUTES": "nan",
    "JOB_HORIZON_DAYS": "inf",
    "FULL_READ_HOURS": "0",
    "DELETED_JOB_DAYS": "-1",
    "HISTORY_MINUTE_DAYS": "0",
    "HISTORY_QUARTER_HOUR_DAYS": "3651",
    "POLL_STATUS_DAYS": "a week",
    "HOUSEKEEPING_SCHEDULE": "hourly",
    "EVENT_DAYS": "0",
    "RESOURCE_LOG_CONTAINER": "Logs/of/batch",
    "TELEMETRY_CONTAINER": "t",
    "TELEMETRY_PATH": "**/{node}/{node}",
    "TELEMETRY_MINUTE_DAYS": "366",
    "TELEMETRY_HOUR_DAYS": "-1",
    "TELEMETRY_STORAGE": "nonsense",
    "BATCH_POOL_API_VERSION": "2024-07-01.20.0",
    "TABLE_PREFIX": "7/seven",
    "CLOCK_URL": "http://example.org/clock",
    "ACCOUNT_ROLES": "demo=Reader",
    "BATCH_ACCOUNT_IDS": "/subscriptions/mine/batchAccounts/demo",
    "READ_QUOTAS": "perhaps",
    "FILE_READERS": "everybody",
    "OUTPUT_DAYS": "other=7",
    "OUTPUT_MB_PER_DAY": "0",
    "OUTPUT_TASKS_OF_EACH": "201",
    "OUTPUT_TASKS_PER_MINUTE": "many",
    "COST_LABELS": "team," + "x" * 129,
    "ARM_URL": "https://management.example.org",
    "PRICE_SOURCE": "guess",
    "PRICE_CURRENCY": "euro",
    "PRICE_FILE": "[7]",
    "PRICE_REGIONS": "demo:westeurope",
    "RETAIL_PRICES_URL": "http://example.org/prices",
}


def test_all_problems_are_named_at_once() -> None:
    settings = read_settings(WRONG)
    assert sorted(problem.partition(":")[0] for problem in settings.problems) == sorted(WRONG)
    with pytest.raises(SettingsError) as caught:
        settings.require()
    assert caught.value.problems == settings.problems
    assert all(name in str(caught.value) for name in WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_setting_is_named_with_its_value(name: str) -> None:
    problems = problems_of(**{name: WRONG[name]})
    assert problems
    assert all(problem.startswith((name, "BATCH_ACCOUNT")) for problem in problems)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("demo", "is not of the form ACCOUNT=ROLE:WHO"),
        ("demo=Reader", "is not of the form ACCOUNT=ROLE:WHO"),
        ("demo=Reader:", "is not of the form ACCOUNT=ROLE:WHO"),
        ("demo=Reader:<script>", "is not of the form ACCOUNT=ROLE:WHO"),
        ("other=Reader:Team", "names no watched account; these are demo, and *"),
        ("demo=Writer:Team", "has a role that is neither Reader nor Operator"),
    ],
)
def test_an_entry_of_account_roles_that_makes_no_sense_is_named_and_nobody_reads_everything(
    entry: str, words: str
) -> None:
    settings = read_settings(ENOUGH | {"ACCOUNT_ROLES": f"demo=Operator:Everything {entry}"})
    (problem,) = settings.problems
    assert problem.startswith(f"ACCOUNT_ROLES: '{entry}' {words}")
    assert not settings.account_roles.allows_all("Reader", {"Everything", "Reader", "Operator"}, ["demo", "*"])
    assert read_settings(ENOUGH | {"ACCOUNT_ROLES": "Demo=reader:Team, *=OPERATOR:Team"}).problems == ()


def test_minutes_of_history_are_not_kept_longer_than_its_quarter_hours() -> None:
    assert not problems_of(HISTORY_MINUTE_DAYS="30", HISTORY_QUARTER_HOUR_DAYS="30")
    assert problems_of(HISTORY_MINUTE_DAYS="91") == (
        "HISTORY_MINUTE_DAYS: 91 days are more than the 90 of HISTORY_QUARTER_HOUR_DAYS; make it no longer than that",
    )
    assert len(problems_of(HISTORY_MINUTE_DAYS="100", HISTORY_QUARTER_HOUR_DAYS="a month")) == 1


def test_an_account_on_this_machine_without_a_key_is_a_problem() -> None:
    assert problems_of(BATCH_ACCOUNT_KEYS="") == (
        "BATCH_ACCOUNT_KEYS: 'demo' has no key: accounts on this machine need one, like demo=KEY",
    )


@pytest.mark.parametrize("keys", ["demo", "demo=", KEY, f"demo={KEY} {KEY}"])
def test_a_key_without_a_name_is_a_problem_and_is_not_repeated(keys: str) -> None:
    (problem,) = problems_of(BATCH_ACCOUNT_KEYS=keys)
    assert problem.endswith("is not of the form NAME=KEY")
    assert KEY.strip("=") not in problem


@pytest.mark.parametrize("keys", ["demo=not*base64", "demo=schlüssel", "demo=abc"])
def test_a_key_that_is_not_base64_is_a_problem_and_is_not_repeated(keys: str) -> None:
    assert problems_of(BATCH_ACCOUNT_KEYS=keys) == ("BATCH_ACCOUNT_KEYS: the key of 'demo' is not base64",)


def test_keys_of_accounts_in_azure_are_refused() -> None:
    azure = "https://contoso.westeurope.batch.azure.com"
    (problem,) = problems_of(BATCH_ACCOUNTS=azure, BATCH_ACCOUNT_KEYS=f"contoso={KEY}")
    assert "managed identity" in problem


def test_a_key_that_ends_in_equals_signs_is_read_whole() -> None:
    assert read_settings(ENOUGH | {"BATCH_ACCOUNT_KEYS": "Demo=c2VjcmV0cw=="}).keys == {"demo": "c2VjcmV0cw=="}


def test_storage_is_named_in_one_of_three_ways() -> None:
    rest = {name: value for name, value in ENOUGH.items() if name != "AzureWebJobsStorage"}
    by_name = read_settings(rest | {"AzureWebJobsStorage__accountName": "store"})
    by_address = read_settings(rest | {"AzureWebJobsStorage__tableServiceUri": "https://store.table.example"})
    assert by_name.storage.endpoint == "https://store.table.core.windows.net"
    assert by_address.storage.endpoint == "https://store.table.example"
    assert read_settings(ENOUGH).storage.connection_string == "UseDevelopmentStorage=true"
    assert not by_name.problems
    assert not by_address.problems


@pytest.mark.parametrize("url", ["http://store.table.example", "store", "https://[broken"])
def test_a_table_address_that_is_not_https_is_a_problem(url: str) -> None:
    rest = {name: value for name, value in ENOUGH.items() if name != "AzureWebJobsStorage"}
    (problem,) = read_settings(rest | {"AzureWebJobsStorage__tableServiceUri": url}).problems
    assert problem.startswith("AzureWebJobsStorage__tableServiceUri")


def test_logs_are_read_where_their_storage_is_named_in_one_of_two_ways() -> None:
    by_string = read_settings(ENOUGH | {"TELEMETRY_STORAGE": "UseDevelopmentStorage=true"})
    by_address = read_settings(ENOUGH | {"TELEMETRY_STORAGE__blobServiceUri": "https://logs.blob.example"})
    assert (by_string.ingestion_enabled, by_string.problems) == (True, ())
    assert (by_address.telemetry_storage.endpoint, by_address.problems) == ("https://logs.blob.example", ())
    (problem,) = problems_of(TELEMETRY_STORAGE__blobServiceUri="http://logs.blob.example")
    assert problem.startswith("TELEMETRY_STORAGE__blobServiceUri")


def string_of(account: str) -> str:
    return f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={KEY};EndpointSuffix=core.windows.net"


IDENTITIES = {
    "AzureWebJobsStorage__accountName": "store",
    "AzureWebJobsStorage__tableServiceUri": "https://store.table.core.windows.net/",
    "TELEMETRY_STORAGE__blobServiceUri": "https://store.blob.core.windows.net/",
}


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize(
    ("injected", "warns"),
    [
        (string_of("store"), False),
        (string_of("STORE"), False),
        (" ", False),
        (string_of("other"), True),
        ("UseDevelopmentStorage=true", True),
        ("AccountName=", True),
        ("nonsense", True),
    ],
)
def test_identity_wins_over_a_connection_string_beside_it(identity: str, injected: str, *, warns: bool) -> None:
    name = identity.partition("__")[0]
    settings = read_settings(ENOUGH | {name: injected, identity: IDENTITIES[identity]})
    places = (
        (settings.telemetry_storage.connection_string, settings.telemetry_storage.endpoint)
        if name == "TELEMETRY_STORAGE"
        else (settings.storage.connection_string, settings.storage.endpoint)
    )
    assert places[0] is None
    assert (places[1] or "").startswith("https://store.")
    assert settings.problems == ()
    assert [warning.partition(":")[0] for warning in settings.warnings] == ([name] if warns else [])
    assert all("'store'" in warning and KEY not in warning for warning in settings.warnings)


def test_a_connection_string_alone_is_used_without_a_warning() -> None:
    settings = read_settings(ENOUGH | {"TELEMETRY_STORAGE": string_of("logs")})
    assert (settings.storage.connection_string, settings.telemetry_storage.connection_string) == (
        "UseDevelopmentStorage=true",
        string_of("logs"),
    )
    assert (settings.problems, settings.warnings) == ((), ())


DEVELOPMENT = {"AZURE_FUNCTIONS_ENVIRONMENT": "Development"}


def test_only_a_host_for_development_outside_of_azure_is_local() -> None:
    assert read_settings(ENOUGH | DEVELOPMENT).is_local
    for hosting in (
        {},
        {"AZURE_FUNCTIONS_ENVIRONMENT": "Production"},
        {"AZURE_FUNCTIONS_ENVIRONMENT": "Staging"},
        DEVELOPMENT | {"WEBSITE_SITE_NAME": "batchscope"},
        DEVELOPMENT | {"WEBSITE_INSTANCE_ID": "0"},
    ):
        assert not read_settings(ENOUGH | hosting).is_local


@pytest.mark.parametrize("value", ["", "false", "False", "0", "1", "yes", "enabled", "truest"])
def test_easy_auth_is_on_only_where_the_platform_says_true(value: str) -> None:
    assert not read_settings(ENOUGH | {"WEBSITE_AUTH_ENABLED": value}).behind_easy_auth
    assert read_settings(ENOUGH | {"WEBSITE_AUTH_ENABLED": "True"}).behind_easy_auth


@given(
    st.dictionaries(
        st.sampled_from([*WRONG, "AzureWebJobsStorage__tableServiceUri", "AzureWebJobsStorage__accountName"]),
        st.text(max_size=30) | st.from_regex(r"(demo=)?https?://\[?[a-z.:\]]{0,20}(=|[a-z]{3})?", fullmatch=True),
    )
)
def test_no_environment_is_too_odd_to_be_read(environment: dict[str, str]) -> None:
    assert isinstance(read_settings(environment).problems, tuple)
