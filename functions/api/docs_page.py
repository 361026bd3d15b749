"""The API reference as one HTML page, rendered from the OpenAPI document; no scripts or external resources."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "h2{margin-top:2.5rem;font-size:1.1rem}code{font-family:ui-monospace,monospace}table{border-collapse:collapse}"
    "td,th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0}.method{display:inline-block;min-width:4rem}"
    "h2,td{overflow-wrap:anywhere}td:nth-child(-n+2){overflow-wrap:normal}"
    "@media(max-width:40rem){td,td:nth-child(-n+2){display:inline-block;max-width:100%;overflow-wrap:anywhere}"
    "tr,td:last-child{display:block}tr{margin-bottom:.75rem}}"
)
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
PAGE_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; frame-ancestors 'none'"


def page_of(document: Mapping[str, Any]) -> str:
    """Returns the HTML of an OpenAPI document of this app, whose schemas are references or plain types."""
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1"><title>Batchscope API</title>',
            f"<style>{_STYLE}</style></head><body><h1>Batchscope API</h1>",
            f'<p>{escape(document["info"]["description"])} <a href="openapi.json">openapi.json</a></p>',
            *_operations(document),
            "<h1>Types</h1>",
            *_types(document["components"]["schemas"]),
            "</body></html>",
        ]
    )


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f'<h2><code><span class="method">{method.upper()}</span> {escape(path)}</code></h2>'
            yield f"<p>{escape(operation['summary'])} {escape(operation['description'])}</p>"
            yield _table(
                (parameter["name"], parameter["in"], _kind(parameter["schema"]), parameter["schema"])
                for parameter in operation["parameters"]
            )
            if "requestBody" in operation:
                yield f"<p>Body: {_of_content(operation['requestBody']['content'])}</p>"
            first = next(iter(operation["responses"].values()))
            yield f"<p>Answer: {_of_content(first.get('content', {})) or 'without a body'}</p>"


def _types(schemas: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in schemas.items():
        yield f'<h2 id="{escape(name)}"><code>{escape(name)}</code></h2><p>{escape(schema.get("description", ""))}</p>'
        yield _table((field, "", _kind(kind), kind) for field, kind in schema.get("properties", {}).items())


def _table(rows: Iterator[tuple[str, str, str, Mapping[str, Any]]]) -> str:
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(where)}</td><td>{kind}</td>"
        f"<td>{escape(schema.get('description', ''))}</td></tr>"
        for name, where, kind, schema in rows
    )
    return f"<table>{cells}</table>" if cells else ""


def _of_content(content: Mapping[str, Any]) -> str:
    return " or ".join(f"{_kind(value['schema'])} ({escape(media)})" for media, value in content.items())


def _kind(schema: Mapping[str, Any]) -> str:
    """Returns the description of a type as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}"><code>{name}</code></a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    words = escape(str(schema.get("format") or schema.get("type") or "anything"))
    if "minimum" in schema and "maximum" in schema:
        words += f" from {schema['minimum']} to {schema['maximum']}"
    return words
