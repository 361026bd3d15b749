"""The part of Azure Resource Manager that has Batch accounts: one GET, without authentication on this machine."""

import asyncio
import re
from urllib.parse import parse_qsl

import orjson
from aiohttp import web

from local.batch_emulator.core.stamps import http_date
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.http.broken_responses import reset_connection, truncated_response
from local.batch_emulator.wire.batch_account import batch_account

PREFIX = "/subscriptions/"
_ROUTE = "GET /subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.Batch/batchAccounts/{a}"
_PATH = re.compile(
    r"/subscriptions/[0-9a-f-]{36}/resourcegroups/[^/]+/providers/microsoft\.batch/batchaccounts/([^/]+)", re.IGNORECASE
)
_VERSION = re.compile(r"20\d\d-\d\d-\d\d(-preview)?")
_OK, _BAD_REQUEST, _MISSING, _NOT_ALLOWED = 200, 400, 404, 405


class ResourceManagerHandler:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    async def handle(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Answers with the account, an error in the service's shape, or as a fault has it."""
        fault = self._emulator.faults.consume(incoming.method, incoming.path)
        if fault:
            await asyncio.sleep(fault.delaySeconds)
        if fault and fault.reset:
            return reset_connection(incoming)
        if fault and fault.status:
            status, body = fault.status, _error(fault.code, "This failure was asked for.")
        else:
            status, body = self._answer(incoming)
        headers = {"Date": http_date(self._emulator.clock.now), "Content-Type": "application/json; charset=utf-8"}
        raw = orjson.dumps(body)
        if fault and fault.truncate and not fault.status:
            return await truncated_response(incoming, status, headers, raw)
        return web.Response(status=status, headers=headers, body=raw)

    def _answer(self, incoming: web.BaseRequest) -> tuple[int, Json]:
        if incoming.method != "GET":
            return _NOT_ALLOWED, _error("MethodNotAllowed", f"There is only {_ROUTE}.")
        found = _PATH.fullmatch(incoming.path)
        simulation = self._emulator.simulations.get(found[1].lower()) if found else None
        if simulation is None:
            return _MISSING, _error("ResourceNotFound", f"The resource '{incoming.path}' was not found.")
        version = dict(parse_qsl(incoming.rel_url.raw_query_string)).get("api-version", "")
        if not _VERSION.fullmatch(version):
            return _BAD_REQUEST, _error("MissingApiVersionParameter", "The api-version query parameter is required.")
        self._emulator.count_request(_ROUTE, incoming.path, 1, incoming.headers.get("User-Agent", ""))
        return _OK, batch_account(simulation.account, incoming.path, incoming.host, self._emulator.settings)


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
