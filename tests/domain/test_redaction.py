import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.redaction import MARK, redacted

SECRET = "Tr0ub4dor-and-3"
KEY = base64.b64encode(bytes(range(64))).decode()
TOKEN = f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}"

TEXTS = {
    "a shared access signature": "https://a.blob.core.windows.net/c/b?sv=2024-01-01&sig={}&se=2026",
    "a connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core.windows.net",
    "a shared access key": "Endpoint=sb://b/;SharedAccessKeyName=n;SharedAccessKey={}",
    "an environment setting": "DB_PASSWORD={} ./run.sh",
    "a quoted setting": "export API_KEY='{}' && run",
    "an argument": "tool --password {} --verbose",
    "an argument with an equals sign": "tool --client-secret={} --verbose",
    "JSON": '{{"accessToken": "{}", "other": 1}}',
    "a header": "curl -H 'Authorization: Bearer {}' https://example.org",
    "an address with a password": "git clone https://user:{}@example.org/repo.git",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_secret_is_taken_out_and_the_rest_stays(text: str) -> None:
    shown = redacted(text.format(SECRET))
    assert SECRET not in shown
    assert MARK in shown
    assert shown.split(MARK)[0]


def test_an_account_key_and_a_token_are_known_by_their_looks() -> None:
    assert redacted(f"the key is {KEY}, or") == f"the key is {MARK}, or"
    assert redacted(f"the token {TOKEN}.") == f"the token {MARK}."


@pytest.mark.parametrize(
    "text",
    [
        "A better model was found",
        "monkey business, turkey and keyboards",
        "render --frame 12 --output https://a.blob.core.windows.net/c/b.png",
        "Feature film, reel 4: signature scene",
        "no tokens left",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


@given(st.text(max_size=300))
def test_any_text_can_be_redacted_and_again_without_change(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once
