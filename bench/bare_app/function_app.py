"""The reference for `bench api`: functions that only answer, or read one row and answer."""

import os
from typing import Any

import azure.functions as func
from azure.data.tables.aio import TableClient

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
_ANSWER = b'{"value":[]}'
_kept: dict[str, TableClient] = {}


@app.route(route="bare")
async def bare(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001 - by that name the host gives it
    return func.HttpResponse(_ANSWER, mimetype="application/json")


@app.route(route="bytes")
async def as_many_bytes(req: func.HttpRequest) -> func.HttpResponse:
    """Answers with as many bytes as are asked for."""
    return func.HttpResponse(b" " * int(req.params["count"]), mimetype="application/json")


@app.route(route="row")
async def row(req: func.HttpRequest) -> func.HttpResponse:
    """Answers after one point read by the official client."""
    table = _kept.get("jobs")
    if table is None:
        storage = os.environ["AzureWebJobsStorage"]  # noqa: SIM112 - the platform's name
        table = _kept["jobs"] = TableClient.from_connection_string(storage, "jobs")
    found: Any = await table.get_entity(req.params["partition"], req.params["row"])
    return func.HttpResponse(str(found["id"]), mimetype="application/json")
