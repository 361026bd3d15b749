"""Content codings and entity tags: the answers to Accept-Encoding and If-None-Match."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import azure.functions as func
import pytest
import zstandard

from functions.http.encodings import CODINGS, IDENTITY, chosen, encoded
from functions.http.rendering import AS_OF, LOOKS, rendered, response_of
from functions.pages import web

JSON = "application/json"
DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
    IDENTITY: lambda body: body,
}
SCRIPT = b"let a = 1;" * 200
LARGE = {"value": [{"id": f"task-{number}", "state": "active"} for number in range(200)]}


async def answered(value: object, *, looks: bool = False, **headers: str) -> func.HttpResponse:
    answer = rendered("GET", value, status=200, headers={}, media=JSON, looks=LOOKS if looks else None)
    given = {name.replace("_", "-").lower(): text for name, text in headers.items()}
    return await response_of(func.HttpRequest(method="GET", url="https://a.b/api/x", headers=given, body=b""), answer)


@pytest.mark.parametrize(
    ("header", "large", "small"),
    [
        (None, IDENTITY, IDENTITY),
        ("", IDENTITY, IDENTITY),
        ("gzip", "gzip", IDENTITY),
        ("GZIP", "gzip", IDENTITY),
        ("x-gzip", "gzip", IDENTITY),
        ("gzip, deflate, br, zstd", "zstd", IDENTITY),
        ("deflate, br", IDENTITY, IDENTITY),
        ("gzip;q=1.0, zstd;q=0.5", "gzip", IDENTITY),
        ("zstd;q=0, gzip;q=0.001", "gzip", IDENTITY),
        ("zstd ; q=0 , gzip", "gzip", IDENTITY),
        ("*", "zstd", IDENTITY),
        ("*;q=0.1, zstd;q=0", "gzip", IDENTITY),
        ("gzip;q=0", IDENTITY, IDENTITY),
        ("identity;q=1, gzip;q=0.5", IDENTITY, IDENTITY),
        ("identity, gzip", "gzip", IDENTITY),
        ("identity;q=0.5, gzip", "gzip", IDENTITY),
        ("identity;q=0, gzip", "gzip", "gzip"),
        ("*;q=0, gzip", "gzip", "gzip"),
        ("gzip, *;q=0, identity", "gzip", IDENTITY),
        ("identity;q=0", None, None),
        ("*;q=0", None, None),
        ("br, *;q=0", None, None),
        ("gzip;q=2, zstd;q=x", IDENTITY, IDENTITY),
    ],
)
def test_the_coding_is_the_one_that_the_client_wants_most(header: str | None, large: str, small: str) -> None:
    assert chosen(header, CODINGS, plain_is_better=False) == large
    assert chosen(header, CODINGS, plain_is_better=True) == small


@pytest.mark.parametrize("size", [0, 1, 5_000, 3 * 1024 * 1024])
@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_comes_back_from_its_coding(coding: str, size: int) -> None:
    body = (b'{"id":"task-1","state":"active"},' * (size // 32 + 1))[:size]
    assert DECODERS[coding](encoded(body, coding)) == body


async def test_an_answer_is_smaller_in_a_coding_has_a_tag_of_its_own_and_varies() -> None:
    plain = await answered(LARGE)
    assert "Content-Encoding" not in plain.headers
    tags = {plain.headers["ETag"]}
    for coding in CODINGS:
        response = await answered(LARGE, Accept_Encoding=coding)
        assert response.headers["Content-Encoding"] == coding
        assert len(response.get_body()) < len(plain.get_body()) / 5
        assert DECODERS[coding](response.get_body()) == plain.get_body()
        assert response.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
        tags.add(response.headers["ETag"])
    assert len(tags) == 1 + len(CODINGS)
    assert not any(tag.startswith("W/") for tag in tags)


async def test_a_client_that_takes_no_coding_that_there_is_is_refused_in_words() -> None:
    response = await answered(LARGE, Accept_Encoding="br, *;q=0")
    assert response.status_code == 406
    assert json.loads(response.get_body())["error"]["target"] == "Accept-Encoding"


@pytest.mark.parametrize("kind", ["strong", "weak"])
@pytest.mark.parametrize("coding", [IDENTITY, *CODINGS])
async def test_every_form_of_if_none_match_is_understood_in_every_coding(coding: str, kind: str) -> None:
    looks = kind == "weak"
    first = await answered(LARGE, looks=looks, Accept_Encoding=coding)
    tag = first.headers["ETag"]
    strong = tag.removeprefix("W/")
    known = [
        tag,
        strong,
        f"W/{strong}",
        f'"other", {strong}',
        f'W/"other",W/{strong},"a, b"',
        f'"a, b",\t{tag}',
        "*",
        " * ",
    ]
    for given in known:
        again = await answered(LARGE, looks=looks, Accept_Encoding=coding, If_None_Match=given)
        assert (again.status_code, again.get_body(), again.headers["ETag"]) == (304, b"", tag), given
        assert again.headers["Vary"] == "Accept-Encoding"
    for given in (
        '"other"',
        strong.strip('"'),
        f'"{strong[1:10]}"',
        f'"x, {strong[1:]}',
        "",
        'W/"other", "another"',
        '"*"',
    ):
        again = await answered(LARGE, looks=looks, Accept_Encoding=coding, If_None_Match=given)
        assert again.status_code == 200, given


async def test_the_tag_of_one_coding_is_good_for_another_as_the_answer_is_the_same() -> None:
    tag = (await answered(LARGE, Accept_Encoding="gzip")).headers["ETag"]
    again = await answered(LARGE, Accept_Encoding="zstd", If_None_Match=tag)
    assert again.status_code == 304
    assert again.headers["ETag"] == (await answered(LARGE, Accept_Encoding="zstd")).headers["ETag"]


@pytest.mark.parametrize("at", [0, 1_000, 1_024, 5_000, 70_000, 199_999])
async def test_a_change_anywhere_in_an_answer_changes_its_tag(at: int) -> None:
    text = "a" * 200_000
    changed = f"{text[:at]}b{text[at + 1 :]}"
    assert (await answered(text)).headers["ETag"] != (await answered(changed)).headers["ETag"]
    assert (await answered(changed, If_None_Match=(await answered(text)).headers["ETag"])).status_code == 200


def looked_at(time: str, **others: object) -> dict[str, object]:
    return {
        "value": [{"asOf": time, "checkedAt": time, "batchCalls": 3, "active": 1, **others}, {"asOf": "2027-01-01Z"}]
    }


async def test_the_as_of_time_is_no_part_of_a_weak_etag_but_has_a_header() -> None:
    first = await answered(looked_at("2026-01-01T00:00:00Z"), looks=True)
    assert first.headers["ETag"].startswith("W/")
    assert first.headers[AS_OF] == "2026-01-01T00:00:00Z"
    later = await answered(looked_at("2026-01-01T00:05:00Z"), looks=True, If_None_Match=first.headers["ETag"])
    assert (later.status_code, later.headers[AS_OF]) == (304, "2026-01-01T00:05:00Z")
    for changed in (looked_at("2026-01-01T00:05:00Z", active=2), looked_at("2026-01-01T00:05:00Z", x='"asOf":"1"')):
        again = await answered(changed, looks=True, If_None_Match=first.headers["ETag"])
        assert again.status_code == 200
    unknown = await answered({"asOf": None}, looks=True)
    assert AS_OF not in unknown.headers
    assert unknown.headers["ETag"] != (await answered({"asOf": "2026-01-01T00:00:00Z"}, looks=True)).headers["ETag"]


async def test_text_that_looks_like_a_time_of_ours_is_part_of_the_tag() -> None:
    one, other = ({"id": f'x","asOf":"{text}'} for text in ("1", "2"))
    assert (await answered(one, looks=True)).headers["ETag"] != (await answered(other, looks=True)).headers["ETag"]


def test_the_codecs_load_when_they_are_needed() -> None:
    script = "import sys, functions.http.encodings as e; assert 'zstandard' not in sys.modules; e.encoded(b'', 'zstd')"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


async def test_a_file_of_the_page_comes_as_the_build_compressed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in (
        ("index.html", b"page"),
        ("a.js", SCRIPT),
        ("a.js.br", b"brotli"),
        ("a.js.gz", b"gzipped"),
    ):
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(web, "_DIST", tmp_path)
    web._listing.cache_clear()

    async def served(name: str, **headers: str) -> func.HttpResponse:
        given = {name.replace("_", "-").lower(): text for name, text in headers.items()}
        return await web.serve(func.HttpRequest(method="GET", url="https://a.b/", headers=given, body=b""), name)

    try:
        for wish, coding, body in (
            ("gzip, br", "br", b"brotli"),
            ("gzip", "gzip", b"gzipped"),
            ("zstd", None, SCRIPT),
        ):
            response = await served("a.js", Accept_Encoding=f"{wish}, identity;q=0.1")
            assert (response.headers.get("Content-Encoding"), response.get_body()) == (coding, body)
            assert response.mimetype.endswith("javascript")
            again = await served("a.js", Accept_Encoding=wish, If_None_Match=response.headers["ETag"])
            assert (again.status_code, again.headers["Vary"]) == (304, "Accept-Encoding")
        assert (await served("a.js.br")).get_body() == b"page"  # not listed as a file
    finally:
        web._listing.cache_clear()
