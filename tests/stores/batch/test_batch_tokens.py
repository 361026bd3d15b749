"""The tokens that the official client requests: those of the account's cloud."""

from typing import Any, override

import pytest
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import ClientAuthenticationError

from shared.domain.accounts.accounts import parse_accounts
from shared.errors import BatchError
from shared.stores.batch.batch import BatchAccount


class Refusing(AsyncTokenCredential):
    """Records the requested scopes and returns no token, so that no request is sent."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    @override
    async def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        self.scopes += scopes
        raise ClientAuthenticationError("no token")

    @override
    async def close(self) -> None:
        """Does nothing."""

    @override
    async def __aexit__(self, *_: object) -> None:
        """Does nothing."""


@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("contoso.westeurope.batch.azure.com", "https://batch.core.windows.net//.default"),
        ("contoso.usgovvirginia.batch.usgovcloudapi.net", "https://batch.core.usgovcloudapi.net//.default"),
        ("contoso.chinaeast2.batch.chinacloudapi.cn", "https://batch.chinacloudapi.cn//.default"),
    ],
)
async def test_a_token_is_asked_for_with_the_scope_of_the_accounts_cloud(host: str, scope: str) -> None:
    (account,), _ = parse_accounts(f"https://{host}")
    credential = Refusing()
    watched = BatchAccount.connect(account, key=None, credential=credential)
    with pytest.raises((BatchError, ClientAuthenticationError)):
        await watched.fetch_jobs()
    await watched.close()
    assert set(credential.scopes) == {scope}
