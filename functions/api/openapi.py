"""GET openapi.json: the declared routes as OpenAPI 3.1; GET docs: the same as a page."""

import re
from http import HTTPStatus
from typing import Any, get_origin

import msgspec

from functions.api.docs_page import PAGE_POLICY, page_of
from functions.api.handlers import all_routes
from functions.api.jobs.job_models import VERDICT, JudgedPage, VerdictAnswer
from functions.http.answers import ErrorAnswer
from functions.http.csv_table import MEDIA
from functions.http.handling import COUNT, UNREADABLE, Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.rendering import AS_OF
from functions.http.route import Route
from shared.version import VERSION

_REFERENCE = "#/components/schemas/{name}"
_SCHEME = "entra"
_CONVENTIONS = (
    "Times are ISO 8601 in UTC, ids are matched without case as in Azure Batch. What takes GET takes HEAD, too; any"
    " other method is a 405 with Allow. Answers to GETs come as Accept-Encoding asks for: in zstd, gzip, or plain."
)
_DECIMALS = '"type":"string","format":"decimal"', '"type":"number","format":"decimal"'
_RELEASED_NAMES = {
    "functions.api.jobs.job_statistics.SlotsAnswer": "functions.api.insight_models.SlotsAnswer",
    "functions.api.jobs.timeline.RunAnswer": "functions.api.timeline.RunAnswer",
    "functions.api.pools.pool_models.SlotsAnswer": "functions.api.pool_models.SlotsAnswer",
    "functions.api.schedules.schedules.RunAnswer": "functions.api.schedule_models.RunAnswer",
}
"""Names of schemas whose classes share theirs with another: what their modules make of them, and what clients know."""


def add_openapi(routes: Routes) -> None:
    @routes.route("GET", "openapi.json", returns=dict)
    async def get_openapi(_call: RouteRequest[Query, None]) -> dict[str, Any]:
        """Returns this OpenAPI document."""
        return document(all_routes(routes.settings))

    @routes.route("GET", "docs", returns=str, media="text/html; charset=utf-8")
    async def get_docs(_call: RouteRequest[Query, None]) -> RouteResponse:
        """Returns the API reference as one page."""
        return RouteResponse(
            page_of(document(all_routes(routes.settings))), headers={"Content-Security-Policy": PAGE_POLICY}
        )


def document(routes: list[Route]) -> dict[str, Any]:
    """Returns the OpenAPI document of the routes."""
    kinds = [ErrorAnswer, *(kind for route in routes for kind in (route.returns, route.body) if _is_struct(kind))]
    schemas, components = _as_sent(msgspec.json.schema_components(kinds, ref_template=_REFERENCE))
    schema_of = dict(zip(map(str, kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(f"/api/{route.path.replace('{*', '{')}", {})[route.method.lower()] = _operation(
            route, schema_of
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Batchscope",
            "version": VERSION,
            "summary": "Monitoring for Azure Batch.",
            "description": _CONVENTIONS,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                _SCHEME: {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "A token of Microsoft Entra ID with the app role Reader or Operator.",
                }
            },
        },
    }


def _as_sent(components: Any) -> Any:
    """Returns schemas with the names that clients know, as keys and in references, and decimals as numbers."""
    text = msgspec.json.encode(components).decode().replace(*_DECIMALS)
    for name, released in _RELEASED_NAMES.items():
        text = text.replace(name, released)
    return msgspec.json.decode(text)


def _operation(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": f"Needs the app role {route.role}." if route.role else "Anybody may call it.",
        "security": [{_SCHEME: []}] if route.role else [],
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": _responses(route, schema_of),
    }
    if route.body:
        schema = {**schema_of[str(route.body)], **getattr(route.body, "RULE", {})}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _responses(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    error = _content(route, ErrorAnswer, schema_of)
    content = _content(route, route.returns, schema_of)
    if "format" in {field.name for field in msgspec.structs.fields(route.query)}:
        content |= {MEDIA: {"schema": {"type": "string"}}}
    success = {"description": "Success.", "content": content, "headers": _headers(route)}
    empty = {"description": "Success, without a body."}
    responses: dict[str, Any] = {
        str(status): empty if status == HTTPStatus.NO_CONTENT else success for status in route.statuses
    }
    if route.method == "GET":
        responses["304"] = {"description": "Still as the ETag in If-None-Match says."}
        responses["406"] = {"description": "Accept-Encoding takes no coding that there is.", "content": error}
    responses["414"] = {"description": "The host takes no request line of over 8 KiB, and says no more."}
    for status in _refusals(route):
        responses.setdefault(str(status), {"description": HTTPStatus(status).phrase, "content": error})
    return responses


def _headers(route: Route) -> dict[str, Any]:
    """Returns the response headers of a route; those of CSV replace the JSON fields around a list's entries."""
    headers = {"ETag": _header("Of the answer in this coding; weak where when it was looked at is no part of it.")}
    if route.looks:
        headers[AS_OF] = _header("The oldest asOf in the answer, also of a 304.")
    if route.media == MEDIA:
        headers["Link"] = _header("The next page.")
    if "format" in {field.name for field in msgspec.structs.fields(route.query)}:
        headers["Link"] = _header("Of a table: the next page.")
        if _is_page(route.returns):
            headers[COUNT] = _header("Of a table: how many entries match on all pages.")
            headers[UNREADABLE] = _header("Of a table: how many entries can't be read.")
        if _is_page(route.returns, JudgedPage):
            headers[AS_OF] = _header("As of when the list is, also of a 304.")
            headers[VERDICT] = {
                "description": "Of a table: the verdict on the list.",
                "content": {"application/json": {"schema": {"$ref": _REFERENCE.format(name=VerdictAnswer.__name__)}}},
            }
    return headers if route.method == "GET" else {}


def _header(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}}


def _refusals(route: Route) -> list[int]:
    """Returns the error statuses of a route: bad input, missing role, missing resource, and failures."""
    return sorted(
        {
            *(400, 500, 502, 503),
            *((401, 403) if route.role else ()),
            *((404,) if "{" in route.path else ()),
            *((413,) if route.body else ()),
            *((429,) if route.method != "GET" else ()),
            *route.refusals,
        }
    )


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"{\*?(\w+)}", path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(kind: type[Any]) -> list[dict[str, Any]]:
    schema = msgspec.json.schema(kind, ref_template="{name}")["$defs"][kind.__name__]
    return [_query_parameter(name, value) for name, value in schema["properties"].items()]


def _query_parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Describes a query parameter; multiple values are separated by commas."""
    commas = {"style": "form", "explode": False} if schema.get("type") == "array" else {}
    return {"name": name, "in": "query", "schema": schema, **commas}


def _content(route: Route, kind: Any, schema_of: dict[str, Any]) -> dict[str, Any]:
    if kind is str:
        return {route.media: {"schema": {"type": "string"}}}
    schema = schema_of[str(kind)] if _is_struct(kind) else {"type": "object"}
    return {"application/json": {"schema": schema}}


def _is_page(kind: Any, of: type[Any] = Page) -> bool:
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and issubclass(origin, of)


def _is_struct(kind: Any) -> bool:
    return kind not in (None, str, dict)
