import pytest

from shared.domain.accounts.accounts import Account, is_loopback, parse_accounts, sharing_name

AZURE = "https://contoso.westeurope.batch.azure.com"


def test_an_account_in_azure_is_known_by_its_name_and_stored_with_its_region() -> None:
    accounts, problems = parse_accounts(AZURE)
    assert accounts == (Account("contoso", "contoso=2ewesteurope", "contoso", "westeurope", AZURE),)
    assert not problems
    assert not accounts[0].is_local


def test_an_account_on_this_machine_takes_the_name_before_its_address() -> None:
    accounts, problems = parse_accounts("Demo=http://127.0.0.1:8900")
    assert accounts == (Account("demo", "demo", "demo", None, "http://127.0.0.1:8900"),)
    assert not problems
    assert accounts[0].is_local


@pytest.mark.parametrize("between", [",", " ", ", ", "\n", ",\n\t", ",,"])
def test_entries_stand_apart_by_commas_or_white_space(between: str) -> None:
    accounts, problems = parse_accounts(f" {AZURE}{between}demo=http://localhost:1 ")
    assert [account.id for account in accounts] == ["contoso", "demo"]
    assert not problems


@pytest.mark.parametrize(
    "entry",
    [
        f"contoso={AZURE}",
        f"{AZURE}/",
        "HTTPS://Contoso.WestEurope.Batch.Azure.COM",
        "demo=http://[::1]:8900",
    ],
)
def test_other_ways_to_write_an_account_are_taken(entry: str) -> None:
    accounts, problems = parse_accounts(entry)
    assert len(accounts) == 1
    assert not problems
    assert not accounts[0].endpoint.endswith("/")


MALFORMED = {
    "contoso": "is not an address",
    "contoso.westeurope.batch.azure.com": "is not an address",
    "ftp://contoso.westeurope.batch.azure.com": "is not an address",
    "https://": "is not an address",
    "demo=": "is not an address",
    "https://[contoso": "is not an address",
    "https://contoso.westeurope.batch.azure.com:port": "port",
    "https://contoso.westeurope.batch.azure.com:99999": "port",
    f"{AZURE}/jobs": "more than a host name",
    f"{AZURE}?sv=1": "more than a host name",
    f"{AZURE}#jobs": "more than a host name",
    "https://me@contoso.westeurope.batch.azure.com": "more than a host name",
    "https://me:secret@contoso.westeurope.batch.azure.com": "more than a host name",
    "https://:secret@contoso.westeurope.batch.azure.com": "more than a host name",
    "http://127.0.0.1:8900": "needs a name",
    "=http://127.0.0.1:8900": "needs a name",
    "no=http://127.0.0.1:8900": "needs a name",
    "with-dash=http://127.0.0.1:8900": "needs a name",
    "http://contoso.westeurope.batch.azure.com": "not https",
    "https://contoso.westeurope.batch.azure.com.example.org": "not a Batch account's address",
    "https://contoso.batch.azure.com": "not a Batch account's address",
    "https://contoso..batch.azure.com": "not a Batch account's address",
    "https://westeurope.batch.azure.com": "not a Batch account's address",
    "https://a.westeurope.batch.azure.com": "not a Batch account's address",
    "https://contoso.westeurope.evilbatch.azure.com": "not a Batch account's address",
    "https://contoso.usgovvirginia.batch.azure.us": "not a Batch account's address",
    "https://contoso.chinaeast2.batch.chinacloudapi.cn.example.org": "not a Batch account's address",
    "http://contoso.usgovvirginia.batch.usgovcloudapi.net": "not https",
    f"fabrikam={AZURE}": "gives the name 'fabrikam'",
}


@pytest.mark.parametrize(
    ("address", "scope"),
    [
        (AZURE, "https://batch.core.windows.net//.default"),
        (
            "https://contoso.usgovvirginia.batch.usgovcloudapi.net",
            "https://batch.core.usgovcloudapi.net//.default",
        ),
        ("https://contoso.chinaeast2.batch.chinacloudapi.cn", "https://batch.chinacloudapi.cn//.default"),
        ("demo=http://127.0.0.1:1", "https://batch.core.windows.net//.default"),
    ],
)
def test_an_account_of_each_cloud_gets_tokens_of_its_own_cloud(address: str, scope: str) -> None:
    accounts, problems = parse_accounts(address)
    assert not problems
    assert [account.token_scope for account in accounts] == [scope]


@pytest.mark.parametrize("entry", MALFORMED)
def test_a_malformed_entry_is_named_in_a_sentence(entry: str) -> None:
    accounts, problems = parse_accounts(f"demo=http://127.0.0.1:1 {entry}")
    assert [account.id for account in accounts] == ["demo"]
    assert len(problems) == 1
    shown = entry.partition("?")[0] if "@" not in entry else f"https://…@{entry.partition('@')[2]}"
    assert problems[0].startswith(f"BATCH_ACCOUNTS: '{shown}' ")
    assert "secret" not in problems[0]
    assert MALFORMED[entry] in problems[0]


def test_every_malformed_entry_is_named_at_once() -> None:
    _, problems = parse_accounts(" ".join(MALFORMED))
    assert len(problems) == len(MALFORMED)


@pytest.mark.parametrize("again", [AZURE, AZURE.upper(), f"contoso={AZURE}"])
def test_an_account_listed_twice_is_a_problem(again: str) -> None:
    accounts, problems = parse_accounts(f"{AZURE} {again}")
    assert len(accounts) == 1
    assert "listed already" in problems[0]


def test_accounts_that_share_a_name_get_their_region_and_keep_their_keys() -> None:
    alone = parse_accounts(AZURE)[0][0]
    text = f"{AZURE} https://contoso.northeurope.batch.azure.com contoso=http://127.0.0.1:1 https://fabrikam.northeurope.batch.azure.com"
    accounts, problems = parse_accounts(text)
    assert not problems
    assert [account.id for account in accounts] == [
        "contoso.westeurope",
        "contoso.northeurope",
        "contoso.local",
        "fabrikam",
    ]
    assert accounts[0].key == alone.key
    assert len({account.key for account in accounts}) == 4


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://[::1]/x", True),
        ("http://localhost", True),
        ("http://127.0.0.1.example.org", False),
        ("https://example.org/127.0.0.1", False),
        ("nothing", False),
        ("http://[broken", False),
    ],
)
def test_only_addresses_of_this_machine_are_loopback(url: str, *, local: bool) -> None:
    assert is_loopback(url) is local


def test_accounts_that_share_a_bare_name_are_found_by_it() -> None:
    ids = ("same.westeurope", "fabrikam", "same.northeurope", "samesame.westeurope")
    assert sharing_name("Same", ids) == ("same.northeurope", "same.westeurope")
    assert sharing_name("fabrikam", ids) == ()
    assert sharing_name("", ids) == ()
