"""Answers as bytes and as responses: JSON or text, the ETag of what a GET gave, and 304 where the client has that.

It knows no route and no handler: what they say of an answer is given.
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

from functions.answers import ErrorDetail, failure, security_headers
from functions.encodings import CODINGS, IDENTITY, chosen, encoded

AS_OF = "Batchscope-As-Of"
_TIMES = ("checkedAt", "startedAt", "finishedAt", "lastSeen")
_NUMBERS = ("batchCalls", "jobsPolled", "secondsInState")
LOOKED = frozenset({"asOf", *_TIMES, *_NUMBERS})
"""Properties that say when and how it was looked at, and ages."""
LOOKS = re.compile(
    rb'"(?:asOf":"(?P<at>[^"]*)"|(?:%b)":"[^"]*"'
    rb'|reason":"(?:Get Task Counts agreed as|As) of [-\d]{10} [:\d]{8} UTC'
    rb'|(?:%b)":[\d.]+)' % ("|".join(_TIMES).encode(), "|".join(_NUMBERS).encode())
)
"""In JSON: when and how it was looked at, and ages. Text from outside can't pass for it: its quotes are escaped.

So is the time with which a verdict's sentence begins.
"""
_CHARSET = "; charset=utf-8"  # which the library adds to texts by itself
_TAG = re.compile(r'(?:W/)?"([^"]*?)(?:-(?:zstd|br|gzip))?"')
_SMALL = 1024  # bytes that fit into one packet however they are encoded
_LONG = 64 * 1024  # bytes whose encoding others shan't wait for

type Encoders = Mapping[str, Callable[[], bytes]]


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as bytes; `headers` are its own, the ETag among them.

    `encoders` make it in other codings, the best first; what they made is kept in `made`.
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
) -> Rendered:
    """A value that a request by that method is answered with: text as it is, anything else as JSON.

    What `looks` matches is no part of the ETag, which is weak then; the oldest time `at` in it becomes a header.
    With `content` the weak ETag is of that instead.
    """
    body = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
    own = {"Cache-Control": "no-cache", **headers}
    if method != "GET" or status != HTTPStatus.OK:
        return Rendered(body, status, own, media.removesuffix(_CHARSET))
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
    return Rendered(body, status, own, media.removesuffix(_CHARSET), encoders)


def etag_of(body: bytes, *, weak: bool = False) -> str:
    """The entity tag of a whole body; a weak one stands for the same in any coding."""
    return f'{"W/" if weak else ""}"{blake2b(body, digest_size=12).hexdigest()}"'


async def response_of(request: func.HttpRequest, answer: Rendered) -> func.HttpResponse:
    """The response to a request, without a body where the client says that it has this very answer.

    What bears an ETag is encoded as the client wants it, and refused (406) where it accepts nothing that there is.
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
    """Whether `If-None-Match` names this answer, in whatever coding, weakly or not (RFC 9110, 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or not set(_TAG.findall(etag)).isdisjoint(_TAG.findall(given))


def _not_acceptable(request: func.HttpRequest, answer: Rendered) -> func.HttpResponse:
    codings = ", ".join([*answer.encoders, IDENTITY])
    message = f"Accept-Encoding takes none of the codings that there are here: {codings}."
    response = failure(request, 406, ErrorDetail(code="NotAcceptable", message=message, target="Accept-Encoding"))
    response.headers["Vary"] = "Accept-Encoding"
    return response
