"""The part of Azure Resource Manager that has Batch accounts: one GET, without authentication on this machine."""

import re
from functools import partial
from urllib.parse import parse_qsl

from aiohttp import web

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.http.broken_responses import json_response
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
        return await json_response(incoming, self._emulator, partial(self._answer, incoming))

    def _answer(self, incoming: web.BaseRequest, fault: Fault | None) -> tuple[int, Json]:
        if fault and fault.status:
            return fault.status, _error(fault.code, "This failure was asked for.")
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
