"""Secrets are recognized by name and by form; ordinary facts stay."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.records.record import Record
from agent.startup.redaction import MARK, MAX_TEXT, is_secret_name, safe_record, safe_text


@pytest.mark.parametrize(
    "name",
    ["AccountKey", "DATABASE_PASSWORD", "sas", "api_key", "userData", "customData", "publicKeys", "ssh_key", "sig",
     "AZURE_CLIENT_SECRET", "AZ_BATCH_AUTHENTICATION_TOKEN", "CONNECTION_STRING", "connstr", "x" * (MAX_TEXT + 1)],
)  # fmt: skip
def test_names_of_secrets_are_recognized(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["vm_size", "model_name", "Core(s)_per_socket", "key", "AZ_BATCH_POOL_ID"])
def test_names_of_facts_are_let_in(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    ["https://x.blob.core.windows.net/c?sv=2024&sig=abc%3D", "DefaultEndpointsProtocol=https;AccountName=x",
     "SharedAccessSignature sv=1", "AccountKey=abc", "ssh-rsa AAAA", "-----BEGIN PRIVATE KEY-----", "password: x",
     "https://user:pass@host/share", "eyJhbGciOiJIUzI1NiJ9.eyJ", "Bearer abc", "ghp_0123456789abcdef",
     "x" * (MAX_TEXT + 1)],
)  # fmt: skip
def test_forms_of_secrets_are_replaced_as_a_whole(text: str) -> None:
    assert safe_text(text) == MARK


ACCOUNT_KEY = base64.b64encode(bytes(range(64))).decode()
BUS_KEY = base64.b64encode(bytes(range(200, 232))).decode()


@pytest.mark.parametrize(
    "text",
    ["?sv=2022-11-02&ss=b&srt=co&sp=rwdl&se=2026&spr=https&sig=Ab%2BcD%3D", "sas=sv%3D2022%26sig%3Dabc", "sig=abc",
     "%3Fsv%3D2022%26sig%3Dabc%253D", "https://f.azurewebsites.net/api/x?code=abc", ACCOUNT_KEY, BUS_KEY,
     f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={BUS_KEY}",
     "BlobEndpoint=https://a.blob.core.windows.net;SharedAccessSignature=sv=2022", "accountkey%3Dabc",
     "InstrumentationKey=00000000-0000-0000-0000-000000000000;IngestionEndpoint=https://x", "ApiKey=xyz",
     "Server=tcp:x;User ID=u;Password=p;", "Pwd=hunter2;", "password=hunter2", "--password hunter2",
     "tool -p x --token abcdef", "--api-key abcdefgh", "-account-key abc", "client_secret=abc",
     "AZURE_CLIENT_SECRET=abc", "abc8Q~AbCdEfGhIjKlMnOpQrStUvWxYz012345", "mysql://root:pw@h/db",
     "redis://:pw@h:6379", "https://tok@github.com/x", "github_pat_11ABCDEFG0abcdefgh", "glpat-abcdefghijklmnop",
     "xoxb-123456789-abc", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY0EXAMPLEKEY",
     "sk_live_abcdefgh1234", "sk-proj-abcdefghijklmnopqrstuvwx", "hf_abcdefghijklmnop",
     "npm_abcdefghijklmnopqrstuvwxyz0123456789", "pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4",
     "AIzaSyA1234567890abcdefghijklmnopqrstuv", "Authorization: Basic dXNlcjpwYXNz", "AAAAB3NzaC1yc2EAAAADAQ",
     "-----BEGIN RSA PRIVATE KEY-----", "ssh-ed25519 AAAAC3NzaC1lZDI1", '"password": "x"', "'token' : 'x'"],
)  # fmt: skip
def test_secrets_of_services_and_of_command_lines_are_replaced(text: str) -> None:
    assert safe_text(text) == MARK
    assert safe_text(f"option={text}, ro") == MARK


@given(some.binary(min_size=48, max_size=64), some.text(max_size=20), some.text(max_size=20))
def test_keys_of_accounts_are_replaced_wherever_they_stand(key: bytes, before: str, after: str) -> None:
    written = base64.b64encode(key).decode()
    if not (any(map(str.isdigit, written)) and any(map(str.isupper, written)) and any(map(str.islower, written))):
        return
    assert safe_text(f"{before} {written} {after}") == MARK


@pytest.mark.parametrize(
    "text",
    ["Intel(R) Xeon(R) Platinum 8473C", "Standard_ND96asr_v4", "6.8.0-1015-azure", "sha256:" + "0af1" * 16,
     "mcr.microsoft.com/batch/tool:1.2", "/dev/disk/cloud/azure_resource-part1", "rw,relatime,vers=4.1"],
)  # fmt: skip
def test_facts_stay_as_they_are(text: str) -> None:
    assert safe_text(text) == text


def test_a_record_loses_secret_fields_and_tags_and_keeps_the_others() -> None:
    record = Record("a", {"password": "x", "size": 5, "note": "AccountKey=abc"}, {"token": "x", "name": "sda"}, 7)
    assert safe_record(record) == Record("a", {"size": 5, "note": MARK}, {"name": "sda"}, 7)
    assert safe_record(Record("a", {"sig=abc": 1}, {})).fields == {}
