"""Log records of the maximum size, built to be slow or to stay in memory: time and memory are bounded."""

import json
import secrets
from typing import Any

import pytest

from shared.domain.events.event_records import parse_event
from shared.domain.redaction.redaction import redacted_begin
from shared.services.events.event_intake import MAX_LINE, _sample
from tests.domain.support.bounded import megabytes, quick
from tests.profiles import NIGHTLY, share_of

_SECONDS, _MAX = (5, 250_000) if NIGHTLY else (2, 100_000)
TOKENS = [
    "a", "a ", " ", "\n", '"', "'", "\\", '\\"', ":", "=", "-", "--", "_", '{"a":', "password", "password=", "key ",
    "-p ", "--token ", "-a-", "-password", "store", "sig=", "%26", "?code=", "authorization:", "bearer ", "eyJ",
    "eyJa.", "az ", "docker login ", "login ", "7z ", "zip ", "sqlcmd ", "setx ", "set -x ", "configure set ",
    "setx key", "curl ", "wget -u ", "mysql ", "net use ", "net use /user:a ", "sshpass -p ", "://", "a://", "https://",
    "https://a:", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "ConvertTo-SecureString -Force ", "ssh-rsa ", "ghp_",
    "AKIA", "a.b",
]  # fmt: skip


def record(properties: dict[str, Any]) -> bytes:
    envelope = {"time": "2026-08-06T12:00:00Z", "operationName": "PoolAutoScaleEvent", "properties": properties}
    return json.dumps(envelope).encode()


def _of(token: str, size: int) -> str:
    """Returns a token again and again, up to a size in JSON."""
    return token * (size // (len(json.dumps(token)) - 2))


def _takes_no_longer(token: str, properties: dict[str, Any]) -> None:
    with quick(_SECONDS, token):
        parse_event(record(properties))


@pytest.mark.parametrize("token", TOKENS)
def test_a_record_of_one_token_takes_no_longer_than_others(token: str) -> None:
    _takes_no_longer(token, {"id": _of(token, _MAX)})


@pytest.mark.parametrize("token", share_of(TOKENS, 3))
def test_a_record_with_a_name_of_one_token_takes_no_longer_either(token: str) -> None:
    _takes_no_longer(token, {_of(token, _MAX): 1})


@pytest.mark.parametrize("token", share_of(TOKENS, 3))
def test_a_record_with_many_values_of_one_token_takes_no_longer_either(token: str) -> None:
    _takes_no_longer(token, {f"p{number}": _of(token, _MAX // 16) + str(number) for number in range(15)})


@pytest.mark.parametrize("token", TOKENS)
def test_a_bad_line_of_one_token_is_sampled_as_quickly(token: str) -> None:
    with quick(1, token):
        assert len(_sample((token * (MAX_LINE // len(token))).encode())) <= 200


def test_long_keys_are_not_remembered() -> None:
    lines = [record({f"{number}" + "k" * 200_000: "word"}) for number in range(50)]
    _, left = megabytes(lambda: [parse_event(line).kind for line in lines])
    assert left < 1


def test_a_very_long_value_is_kept_as_its_begin_which_says_so() -> None:
    found = parse_event(record({"id": "p", "results": "a word " * 20_000})).properties["results"]
    assert found.startswith("a word a word")
    assert found.endswith(" … (cut: it had 140,000 characters)")
    assert len(found) < 17_000


SECRETS = [
    "ghp_" + "A1b2" * 9, "A" * 86 + "==", "https://user:pass%word@host/", "eyJ" + "a1" * 20 + "." + "b2" * 20 + ".c3",
    'password="two words, and\' more"', "--password 'two words'", "AKIA" + "ABCD1234" * 2,
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_a_cut_leaves_no_part_of_a_secret(secret: str) -> None:
    most = 400
    for begin in range(most - len(secret) - 5, most + 5):
        text = ("word " * 100)[:begin] + " " + secret + " word" * 200
        shown = redacted_begin(text, most)
        left = shown.replace("[redacted]", "").replace("word ", "").replace("password", "")
        parts = [secret[at : at + 7] for at in range(12, len(secret) - 6)]
        assert not any(part in left for part in parts), (begin, shown[-80:])


def test_a_sample_is_of_the_begin_and_has_two_hundred_characters() -> None:
    line = b"begin " + secrets.token_hex(4).encode() + b" and so on" * 100_000
    assert _sample(line) == line[:200]
    assert _sample("größe ".encode() * 100_000) == ("größe " * 40)[:200].encode()
    assert _sample(b"a" * 100_000) == b""
