"""Verification of signatures and tokens."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Self
from urllib.parse import quote

import pytest
from azure.batch.aio import BatchClient
from azure.core.credentials import AccessToken, AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError

from local.batch_emulator.protocol.auth import DEVELOPMENT_TOKEN
from tests.emulator.support.driver import API, Driver

_OTHER_KEY = "b3RoZXIga2V5"


async def test_a_wrong_key_is_refused_with_the_string_to_sign(stepped: Driver) -> None:
    answer = await replace(stepped, key=_OTHER_KEY).call("GET", "/jobs")
    assert (answer.status, answer.code) == (403, "AuthenticationFailed")
    assert "string to sign 'GET" in answer.values["AuthenticationErrorDetail"]


async def test_the_official_client_fails_with_a_wrong_key(stepped: Driver) -> None:
    async with BatchClient(stepped.url, AzureNamedKeyCredential("demo", _OTHER_KEY), retry_total=0) as client:
        with pytest.raises(HttpResponseError) as caught:
            await client.get_job("job")
    assert caught.value.status_code == 403


async def test_an_unknown_account_is_refused(stepped: Driver) -> None:
    answer = await replace(stepped, account="nobody").call("GET", "/jobs")
    assert (answer.status, answer.code) == (403, "AuthenticationFailed")


async def test_a_signature_does_not_fit_another_request(stepped: Driver) -> None:
    date = {"ocp-date": format_datetime(datetime.now(UTC), usegmt=True)}
    url = f"{stepped.url}/jobs?api-version={API}"
    signed = {**date, "authorization": f"SharedKey demo:{stepped.signature('GET', url, date)}"}
    assert (await stepped.follow("GET", url, headers=signed)).status == 200
    assert (await stepped.follow("GET", url.replace("jobs", "pools"), headers=signed)).status == 403
    assert (await stepped.follow("GET", f"{url}&maxresults=1", headers=signed)).status == 403


@pytest.mark.parametrize("minutes", [-16, 16])
async def test_a_clock_more_than_a_quarter_hour_off_is_refused(stepped: Driver, minutes: int) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    answer = await stepped.call("GET", "/jobs", headers={"ocp-date": date})
    assert (answer.status, answer.code) == (403, "AuthenticationFailed")
    near = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes * 0.8), usegmt=True)
    assert (await stepped.call("GET", "/jobs", headers={"ocp-date": near})).status == 200


async def test_no_authorization_is_401_and_names_the_scheme(stepped: Driver) -> None:
    answer = await stepped.call("GET", "/jobs", headers={"authorization": ""})
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def test_the_development_token_opens_the_account_of_the_host_and_no_other_token_does(stepped: Driver) -> None:
    await replace(stepped, account="other").add_job("of-other")
    bearer = {"authorization": f"Bearer {DEVELOPMENT_TOKEN}"}
    assert (await stepped.call("GET", "/jobs", headers=bearer)).body["value"] == []
    named = await stepped.call("GET", "/jobs", headers={**bearer, "host": "other.west.batch.test"})
    assert [job["id"] for job in named.body["value"]] == ["of-other"]
    assert (await stepped.call("GET", "/jobs", headers={"authorization": "Bearer else"})).status == 401


class _Token:
    async def get_token(self, *_: str, **__: object) -> AccessToken:
        return AccessToken(DEVELOPMENT_TOKEN, 2**31)

    async def close(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...


async def test_the_official_client_signs_in_by_token(stepped: Driver) -> None:
    await stepped.add_job()
    async with BatchClient(stepped.url, _Token()) as client:
        assert (await client.get_job("job", enforce_https=False)).id == "job"


async def test_paths_and_queries_with_special_characters_are_signed_as_documented(stepped: Driver) -> None:
    answer = await stepped.call("GET", f"/jobs/{quote('a:job-1', safe='')}")
    assert (answer.status, answer.code) == (404, "JobNotFound")
    answer = await stepped.call("GET", "/jobs", _filter="id eq 'a b+c%' or startswith(id, 'é')")
    assert answer.status == 200


async def test_accounts_share_a_port_and_nothing_else(stepped: Driver) -> None:
    await stepped.add_job("mine")
    assert (await replace(stepped, account="other").call("GET", "/jobs/mine")).status == 404
