"""Answers as bytes and responses: JSON or text, ETags of GET answers, and 304 where the client has the same answer.

This module knows no routes or handlers; callers pass their properties.
"""

import asyncio
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

import azure.functions as func
import msgspec

from functions.http.answers import ErrorDetail, failure, security_headers
from functions.http.encodings import CODINGS, IDENTITY, chosen, encoded

AS_OF = "Batchscope-As-Of"
_TIMES = ("checkedAt", "startedAt", "finishedAt", "lastSeen")
_NUMBERS = ("batchCalls", "jobsPolled", "secondsInState")
LOOKED = frozenset({"asOf", *_TIMES, *_NUMBERS})
"""Properties that hold times and costs of polls, or ages."""
LOOKS = re.compile(
    rb'"(?:asOf":"(?P<at>[^"]*)"|(?:%b)":"[^"]*"'
    rb'|reason":"(?:Get Task Counts agreed as|As) of [-\d]{10} [:\d]{8} UTC'
    rb'|(?:%b)":[\d.]+)' % ("|".join(_TIMES).encode(), "|".join(_NUMBERS).encode())
)
"""Matches times and costs of polls and ages in JSON, and the time at the start of a verdict's sentence.

Untrusted text can't match, as its quotes are escaped.
"""
_CHARSET = "; charset=utf-8"  # azure.functions adds it to texts
_TAG = re.compile(r'(?:W/)?"([^"]*?)(?:-(?:zstd|br|gzip))?"')
_JSON = msgspec.json.Encoder(decimal_format="number")  # amounts of money are numbers with all of their digits
_SMALL = 1024  # bytes; a smaller body fits into one packet in any coding
_LONG = 64 * 1024  # bytes; a longer body is encoded in a thread, not on the event loop

type Encoders = Mapping[str, Callable[[], bytes]]


@dataclass(frozen=True, slots=True)
class EncodedResponse:
    """An answer as bytes; `headers` are its own, including the ETag.

    `encoders` produce it in other codings, best first; `made` caches their results.
    """

    body: bytes
    status: int
    headers: dict[str, str]
    media: str
    encoders: Encoders = field(default_factory=dict)
    made: dict[str, bytes] = field(default_factory=dict)

    async def in_coding(self, coding: str) -> bytes:
        if coding == IDENTITY:
            return self.body
        if coding not in self.made:
            encoder = self.encoders[coding]
            self.made[coding] = await asyncio.to_thread(encoder) if len(self.body) > _LONG else encoder()
        return self.made[coding]


def rendered(
    method: str,
    value: Any,
    *,
    status: int,
    headers: Mapping[str, str],
    media: str,
    looks: re.Pattern[bytes] | None = None,
    content: bytes | None = None,
) -> EncodedResponse:
    """Returns the answer to a request of this method: text and bytes unchanged, other values as JSON.

    Matches of `looks` are excluded from the ETag, which is weak then; their oldest time `at` becomes a header. If
    `content` is given, the weak ETag is computed from that instead.
    """
    body = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else _JSON.encode(value)
    own = {"Cache-Control": "no-cache", **headers}
    if method != "GET" or status != HTTPStatus.OK:
        return EncodedResponse(body, status, own, media.removesuffix(_CHARSET))
    if looks and content is not None:
        own["ETag"] = etag_of(content, weak=True)
    else:
        own["ETag"] = etag_of(looks.sub(b"", body), weak=True) if looks else etag_of(body)
    if (
        looks
        and AS_OF not in own
        and "at" in looks.groupindex
        and (times := [found["at"] for found in looks.finditer(body) if found["at"]])
    ):
        own[AS_OF] = min(times).decode()
    encoders = {coding: partial(encoded, body, coding) for coding in CODINGS}
    return EncodedResponse(body, status, own, media.removesuffix(_CHARSET), encoders)


def etag_of(body: bytes, *, weak: bool = False) -> str:
    """Returns the entity tag of a whole body; a weak tag is the same in every coding."""
    return f'{"W/" if weak else ""}"{blake2b(body, digest_size=12).hexdigest()}"'


async def response_of(request: func.HttpRequest, answer: EncodedResponse) -> func.HttpResponse:
    """Returns the response to a request, without a body (304) if the client has this answer.

    An answer with an ETag is encoded as the client prefers, or refused (406) if it accepts no available coding.
    """
    headers = {**security_headers(request), "x-ms-request-id": str(uuid.uuid4()), **answer.headers}
    etag = answer.headers.get("ETag")
    if etag is None:
        return func.HttpResponse(answer.body, status_code=answer.status, headers=headers, mimetype=answer.media)
    headers["Vary"] = "Accept-Encoding"
    wish = request.headers.get("accept-encoding")
    coding = chosen(wish, answer.encoders, plain_is_better=len(answer.body) < _SMALL)
    if coding is None:
        return _not_acceptable(request, answer)
    if coding != IDENTITY and not etag.startswith("W/"):
        headers["ETag"] = f'{etag[:-1]}-{coding}"'
    if _is_known(request, etag):
        return func.HttpResponse(status_code=304, headers=headers)
    if coding != IDENTITY:
        headers["Content-Encoding"] = coding
    body = await answer.in_coding(coding)
    return func.HttpResponse(body, status_code=answer.status, headers=headers, mimetype=answer.media)


def _is_known(request: func.HttpRequest, etag: str) -> bool:
    """Returns whether `If-None-Match` names this answer, in any coding, weak or strong (RFC 9110, 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or not set(_TAG.findall(etag)).isdisjoint(_TAG.findall(given))


def _not_acceptable(request: func.HttpRequest, answer: EncodedResponse) -> func.HttpResponse:
    codings = ", ".join([*answer.encoders, IDENTITY])
    message = f"Accept-Encoding takes none of the codings that there are here: {codings}."
    response = failure(request, 406, ErrorDetail(code="NotAcceptable", message=message, target="Accept-Encoding"))
    response.headers["Vary"] = "Accept-Encoding"
    return response
