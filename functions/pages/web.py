"""Serves the built dashboard: the files of `web/dist`, and its page for every other path outside the API.

The page is at `/` and `/index.html`, as isKnownAddress of web/src/routing/routes.ts defines. On any other path the page
comes with status 404, and shows that the address is unknown.

This handler gets every path and method that no other function serves. Azure's host matches path and method together and
answers a bare 404 where no function matches. So this module names the error: an unsupported method or an unknown route.
"""

import mimetypes
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import azure.functions as func

from functions.api.endpoints import ENDPOINTS
from functions.http.answers import ErrorDetail, failure, security_headers
from functions.http.rendering import EncodedResponse, etag_of, response_of

_DIST = Path(__file__).resolve().parents[2] / "web" / "dist"
_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:;"
    " object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE = "index.html"
_READING = ("GET", "HEAD")
_CODINGS = {"br": ".br", "gzip": ".gz"}  # the smaller first; written by web/compress.js
_SUFFIXES = tuple(_CODINGS.values())
_FOREVER = "public, max-age=31536000, immutable"


async def answer(request: func.HttpRequest, path: str) -> func.HttpResponse:
    """Returns a file, or an error for a request that nothing else answers."""
    return _refusal(request, path) or await serve(request, path)


def _refusal(request: func.HttpRequest, path: str) -> func.HttpResponse | None:
    """Returns the error response of a request that no file can answer; None if a file can."""
    first, _, rest = path.partition("/")
    is_api = first.lower() == "api"
    served = [method for one in ENDPOINTS if one.serves(rest) for method in one.methods] if is_api else [*_READING]
    if not served or (is_api and request.method in served):  # such as a path with one slash too many
        detail = ErrorDetail(code="RouteNotFound", message="There is no such route in the API.", target=None)
        return failure(request, 404, detail)
    if not is_api and request.method in _READING:
        return None
    allowed = ", ".join(served)
    message = f"The method {request.method} isn't for this address; it takes {allowed}."
    response = failure(request, 405, ErrorDetail(code="MethodNotAllowed", message=message, target=None))
    response.headers["Allow"] = allowed
    return response


async def serve(request: func.HttpRequest, path: str) -> func.HttpResponse:
    """Returns a file by its exact name in the build, or the page.

    Names are looked up in a listing, never joined to a path.
    """
    files = _listing()
    is_there = not path or (path in files and not path.endswith(_SUFFIXES))
    name = path if path and is_there else _PAGE
    if name not in files:
        message = "The dashboard isn't built; run python3 dev.py build."
        headers = {**security_headers(request), "Cache-Control": "no-store"}
        return func.HttpResponse(message, status_code=503, headers=headers)
    found = _file(name)
    return await response_of(request, found if is_there else _not_found(found))


def _not_found(page: EncodedResponse) -> EncodedResponse:
    """Returns the page as an uncacheable 404 for an unknown address."""
    kept = {name: text for name, text in page.headers.items() if name != "ETag"}
    return replace(page, status=404, headers={**kept, "Cache-Control": "no-store"})


def _file(name: str) -> EncodedResponse:
    """Returns a file of the build with its precompressed variants."""
    files = _listing()
    body = files[name].read_bytes()
    headers = {
        "Content-Security-Policy": _POLICY,
        "Cache-Control": _FOREVER if name.startswith("assets/") else "no-cache",
        "ETag": etag_of(body),
    }
    made = {coding: files[name + suffix].read_bytes for coding, suffix in _CODINGS.items() if name + suffix in files}
    return EncodedResponse(body, 200, headers, mimetypes.guess_type(name)[0] or "application/octet-stream", made)


@lru_cache(maxsize=1)
def _listing() -> dict[str, Path]:
    return {str(file.relative_to(_DIST).as_posix()): file for file in _DIST.rglob("*") if file.is_file()}
