"""Public names as literals: routes, schemas, settings, functions with their bindings, codes, values of labels.

Many are names of Python classes, functions and fields; renaming these fails here. Other tests compare metrics with
their types and labels to docs/metrics.md (`test_metrics_page.py`), and beginnings of log lines to the alert rules
(`test_alerts.py`).
"""

import ast
import itertools
import json
import os
import re
import runpy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from functions.api.handlers import all_routes
from functions.api.openapi import document
from functions.http.answers import status_of
from shared.errors import NotFoundError
from shared.settings import read_settings
from tests.functions.conftest import ROOT
from tests.functions.metrics.test_metrics_page import RENDERED
from tests.infra.rules.settings import settings_read
from tests.pinned_names import assert_pinned

DOCUMENT = document(all_routes(read_settings({})))
OPEN_LABELS = {"account", "job", "pool", "schedule", "node", "le", "cause", "vm_size", "image", "budget"}
"""Labels with values from outside, with the bounds in docs/metrics.md, or with codes of explanations."""
ENVIRONMENT = {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "TELEMETRY_STORAGE": "UseDevelopmentStorage=true"}


def routes() -> Iterator[str]:
    """Yields a line for the statuses of each route, and for each of its parameters, headers and bodies."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            route = f"{path} {method.upper()}"
            yield f"{route} operationId {operation['operationId']}"
            for parameter in operation["parameters"]:
                yield f"{route} {parameter['in']} {parameter['name']}: {_shape(parameter['schema'])}"
            yield f"{route} answers {' '.join(sorted(operation['responses']))}"
            for status, response in operation["responses"].items():
                yield from (f"{route} header {name}" for name in response.get("headers", {}))
                if status.startswith("2"):
                    yield from (f"{route} {status} {media}: {_shape(content['schema'])}"
                                for media, content in response.get("content", {}).items())  # fmt: skip
            if "requestBody" in operation:
                yield f"{route} body {_shape(operation['requestBody']['content']['application/json']['schema'])}"


def schemas() -> Iterator[str]:
    """Yields a line for each property of each schema, with its type and permitted values."""
    for name, schema in DOCUMENT["components"]["schemas"].items():
        required = schema.get("required", ())
        yield name
        for title, part in schema.get("properties", {}).items():
            yield f"{name}.{title}{'' if title in required else '?'}: {_shape(part)}"


def _shape(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(map(_shape, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"[{_shape(schema.get('items') or {})}]"
    if "additionalProperties" in schema:
        return f"{{{_shape(schema['additionalProperties'] or {})}}}"
    return " ".join(str(schema[key]) for key in ("type", "format") if key in schema) or "anything"


def bindings(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Iterator[str]:
    """Yields a line for each binding of each function, as the platform indexes it."""
    for name in tuple(os.environ):
        monkeypatch.delenv(name)
    for name, value in {**ENVIRONMENT, **environment}.items():
        monkeypatch.setenv(name, value)
    app = runpy.run_path(str(ROOT / "function_app.py"))["app"]
    for function in app.get_functions():
        for binding in map(_as_dict, function.get_bindings()):
            options = {key: value for key, value in sorted(binding.items()) if key not in ("type", "name")}
            text = " ".join(f"{key}={json.dumps(value)}" for key, value in options.items())
            yield f"{function.get_function_name()} {binding['type']} {binding['name']} {text}".rstrip()


def _as_dict(binding: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(binding.get_dict_repr(), default=str))
    return found


def modules(folder: str) -> Iterator[ast.Module]:
    """Yields the syntax trees of the app's modules."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def explanation_names() -> Iterator[str]:
    """Yields finding codes and evidence names, from modules that create findings or use groups of nodes."""
    for module in modules("shared"):
        named = {node.name for node in module.body if isinstance(node, ast.ClassDef)}
        named |= {alias.name for node in module.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        if not named & {"Finding", "Found", "Value", "Group", "Waste"}:
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and re.fullmatch("[a-z]+([A-Z][a-z]+)+", str(node.value)):
                yield str(node.value)
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        for node in itertools.chain.from_iterable(map(ast.walk, functions)):
            for key in node.keys if isinstance(node, ast.Dict) else ():
                if isinstance(key, ast.Constant):
                    yield str(key.value)


def error_codes() -> Iterator[str]:
    """Yields the error codes in functions, and those of missing resources in services."""
    for node in itertools.chain.from_iterable(map(ast.walk, modules("functions"))):
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                yield code
            case ast.Tuple(elts=[ast.Constant(value=int()), ast.Constant(value=str(code))]):
                yield code
            case ast.arguments(kwonlyargs=names, kw_defaults=defaults):
                for name, default in zip(names, defaults, strict=True):
                    if name.arg == "code" and isinstance(default, ast.Constant):
                        yield str(default.value)
    for node in itertools.chain.from_iterable(map(ast.walk, modules("shared"))):
        match node:
            case ast.Call(func=ast.Name(id="NotFoundError"), args=[ast.Constant(value=str(kind)), *_]) if (
                " " not in kind
            ):
                yield status_of(NotFoundError(kind, ""))[1]


def test_routes_have_the_names_parameters_and_statuses_that_clients_use() -> None:
    assert_pinned("routes", routes(), "public")


def test_schemas_and_their_properties_have_the_names_and_values_that_clients_use() -> None:
    assert_pinned("schemas", schemas(), "public")


def test_settings_have_the_names_that_deployments_use() -> None:
    assert_pinned("settings", settings_read(), "public")


def test_functions_bindings_queues_and_containers_have_the_names_that_azure_sees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = list(bindings(monkeypatch))
    assert_pinned("functions", found, "public")
    prefixed = bindings(monkeypatch, TABLE_PREFIX="Two")
    names = ("batchscope-jobs", "batchscope-jobs-poison", "batchscope-polls")
    expected = [line for name in names for line in found for line in [line.replace(f'"{name}"', f'"two-{name}"')]]
    assert {line for line in prefixed if "two-" in line} == {line for line in expected if "two-" in line}


def test_labels_of_metrics_have_the_values_that_queries_use() -> None:
    found = {
        f"{sample.name} {label}={value}"
        for family in RENDERED.values()
        for sample in family.samples
        for label, value in sample.labels.items()
        if label not in OPEN_LABELS
    }
    assert_pinned("label_values", found, "public")


def test_codes_of_findings_and_names_of_their_evidence_are_those_that_clients_use() -> None:
    assert_pinned("explanation_names", explanation_names(), "public")


def test_codes_of_errors_are_those_that_clients_use() -> None:
    assert_pinned("error_codes", error_codes(), "public")
