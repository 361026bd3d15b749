"""Serves the built dashboard: the files of `web/dist`, and its page for every other path outside the API."""

import mimetypes
from functools import lru_cache
from pathlib import Path

import azure.functions as func

from functions.answers import ErrorDetail, failure, security_headers

_DIST = Path(__file__).resolve().parent.parent / "web" / "dist"
_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:;"
    " object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_FOREVER = "public, max-age=31536000, immutable"


def web_blueprint() -> func.Blueprint:
    blueprint = func.Blueprint()

    @blueprint.function_name("dashboard")
    @blueprint.route(route="{*path}", methods=["GET", "HEAD"], auth_level=func.AuthLevel.ANONYMOUS)
    async def dashboard(req: func.HttpRequest) -> func.HttpResponse:
        """The dashboard."""
        return serve(req, req.route_params.get("path") or "")

    return blueprint


def serve(request: func.HttpRequest, path: str) -> func.HttpResponse:
    """A file by its exact name in the build, or the page. Names are looked up in a listing, never joined to a path."""
    files = _listing()
    if path.lower().split("/", 1)[0] == "api":
        detail = ErrorDetail(code="RouteNotFound", message="There is no such route in the API.", target=None)
        return failure(request, 404, detail)
    name = path if path in files else "index.html"
    if name not in files:
        message = "The dashboard isn't built; run python3 dev.py build."
        headers = {**security_headers(request), "Cache-Control": "no-store"}
        return func.HttpResponse(message, status_code=503, headers=headers)
    headers = {
        **security_headers(request),
        "Content-Security-Policy": _POLICY,
        "Cache-Control": _FOREVER if name.startswith("assets/") else "no-cache",
    }
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return func.HttpResponse(files[name].read_bytes(), mimetype=kind, headers=headers)


@lru_cache(maxsize=1)
def _listing() -> dict[str, Path]:
    return {str(file.relative_to(_DIST).as_posix()): file for file in _DIST.rglob("*") if file.is_file()}
