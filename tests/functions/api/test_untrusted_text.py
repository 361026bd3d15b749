"""Text from outside: markup is shown as text, and only files with listed names are served."""

from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from functions.api.docs_page import page_of
from functions.pages import web

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


def document() -> dict[str, Any]:
    """Returns an OpenAPI document with a hostile text in every place for a text or name."""
    kind = {
        "type": "object",
        "description": HOSTILE,
        "properties": {HOSTILE: {"type": HOSTILE, "description": HOSTILE}},
    }
    parameters = [
        {"name": HOSTILE, "in": HOSTILE, "schema": schema}
        for schema in (
            {"type": HOSTILE, "description": HOSTILE},
            {"enum": [HOSTILE]},
            {"anyOf": [{"format": HOSTILE}, {"type": "array", "items": {"type": HOSTILE}}]},
            {"$ref": f"#/components/schemas/{HOSTILE}"},
        )
    ]
    content = {HOSTILE: {"schema": {"$ref": f"#/components/schemas/{HOSTILE}"}}}
    operation = {
        "summary": HOSTILE,
        "description": HOSTILE,
        "parameters": parameters,
        "requestBody": {"content": content},
        "responses": {"200": {"content": content}},
    }
    return {
        "info": {"description": HOSTILE},
        "paths": {HOSTILE: {"get": operation}},
        "components": {"schemas": {HOSTILE: kind}},
    }


def test_markup_in_the_document_is_text_on_the_page() -> None:
    page = page_of(document())
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "..\\secret.txt", "assets/../../secret.txt", "./index.js", "%2e%2e/secret.txt", "ABSOLUTE", "."],
)
async def test_a_file_outside_of_the_listing_is_never_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "dist/assets").mkdir(parents=True)
    (tmp_path / "dist/index.html").write_text("the page")
    (tmp_path / "dist/index.js").write_text("a script")
    (tmp_path / "secret.txt").write_text("a secret")
    monkeypatch.setattr(web, "_DIST", tmp_path / "dist")
    web._listing.cache_clear()
    request = func.HttpRequest(method="GET", url="https://batchscope.example/", body=b"")
    try:
        path = str(tmp_path / "secret.txt") if name == "ABSOLUTE" else name
        assert (await web.serve(request, path)).get_body() == b"the page"
        assert (await web.serve(request, "index.js")).get_body() == b"a script"
    finally:
        web._listing.cache_clear()
