"""GET openapi.json: what the route decorator was told, as OpenAPI 3.1."""

import re
from typing import Any

import msgspec

from functions.http import Call, ErrorAnswer, Query, Route, Routes, Text

_REFERENCE = "#/components/schemas/{name}"


def add_openapi(routes: Routes) -> None:
    @routes.route("GET", "openapi.json", returns=Text)
    async def get_openapi(_call: Call[Query, None]) -> Text:
        """This document."""
        return Text(msgspec.json.encode(document(routes.all)).decode(), "application/json")


def document(routes: list[Route]) -> dict[str, Any]:
    """The OpenAPI document of routes."""
    kinds = [ErrorAnswer, *(kind for route in routes for kind in (route.returns, route.body) if _is_json(kind))]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    schema_of = dict(zip(map(str, kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(f"/api/{route.path}", {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Batchscope", "version": "0.1.0", "summary": "Monitoring for Azure Batch."},
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [*_path_parameters(route.path), *_query_parameters(route.query)],
        "responses": {
            str(route.status): {"description": "Success.", "content": _content(route.returns, schema_of)},
            "default": {"description": "An error.", "content": _content(ErrorAnswer, schema_of)},
        },
    }
    if route.body:
        operation["requestBody"] = {"required": True, "content": _content(route.body, schema_of)}
    return operation


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(kind: type[Any]) -> list[dict[str, Any]]:
    schema = msgspec.json.schema(kind, ref_template="{name}")["$defs"][kind.__name__]
    return [{"name": name, "in": "query", "schema": value} for name, value in schema["properties"].items()]


def _content(kind: Any, schema_of: dict[str, Any]) -> dict[str, Any]:
    if not _is_json(kind):
        return {"text/plain": {"schema": {"type": "string"}}}
    return {"application/json": {"schema": schema_of[str(kind)]}}


def _is_json(kind: Any) -> bool:
    return kind is not None and kind is not Text
