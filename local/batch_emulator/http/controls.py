"""The controls under `/_emulator/`, for tests and demos: without authentication, but from this machine only."""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

import orjson
from aiohttp import web

from local.batch_emulator.core.injection import read_fault
from local.batch_emulator.core.stamps import stamp, ticks
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.machine_vm import machine_node, resource_name
from local.batch_emulator.http.prices import change_prices, right_prices
from local.batch_emulator.http.usage import usage
from local.batch_emulator.state.scheduled_events import KINDS

type Body = Mapping[str, Any]
type Control = Callable[[Body], Any]  # with the query of a GET instead of a body
PREFIX = "/_emulator/"
_DAY = 86_400
_CLOCK = ("paused", "speed", "advanceSeconds")


class ControlError(Exception):
    """An invalid request to a control, with a message and a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ControlHandler:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._controls: Mapping[tuple[str, str], Control] = {
            ("GET", "truth"): self._truth,
            ("GET", "startups"): self._start_ups,
            ("GET", "usage"): self._usage,
            ("GET", "prices"): self._prices,
            ("POST", "prices"): self._change_prices,
            ("GET", "clock"): self._clock,
            ("POST", "clock"): self._change_clock,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): self._clear_faults,
            ("GET", "counters"): self._counters,
            ("GET", "log"): self._log,
            ("GET", "telemetry"): self._telemetry,
            ("POST", "scheduledEvents"): self._schedule_event,
            ("POST", "reset"): self._reset,
            ("GET", "settings"): self._settings,
            ("POST", "settings"): self._change_settings,
        }

    async def handle(self, incoming: web.BaseRequest) -> web.Response:
        try:
            status, result = await self._run(incoming)
        except ControlError as error:
            return _json(error.status, {"error": str(error)})
        except ValueError as error:
            return _json(400, {"error": str(error)})
        return _json(status, result)

    async def _run(self, incoming: web.BaseRequest) -> tuple[int, Any]:
        if not is_loopback(incoming.remote):
            raise ControlError(403, "The controls answer on this machine only.")
        name = incoming.path.removeprefix(PREFIX).rstrip("/")
        control = self._controls.get((incoming.method, name))
        if control is None:
            known = ", ".join(f"{method} {PREFIX}{each}" for method, each in self._controls)
            raise ControlError(404, f"There is no {incoming.method} {incoming.path}; the controls are {known}.")
        body = dict(incoming.query) if incoming.method == "GET" else await _body(incoming)
        return (201 if control == self._add_fault else 200), control(body)

    def _truth(self, _: Body) -> Any:
        return self._emulator.truth()

    def _start_ups(self, _: Body) -> Any:
        """Returns the moments of nodes' first starts, by account, pool and node, also of nodes that have left."""
        simulations = self._emulator.simulations.items()
        return {name: each.context.start_ups.to_json() for name, each in simulations}

    def _usage(self, query: Body) -> Any:
        return usage(self._emulator, query)

    def _prices(self, query: Body) -> Any:
        return right_prices(self._emulator, query)

    def _change_prices(self, body: Body) -> Any:
        return change_prices(self._emulator, body)

    def _clock(self, _: Body) -> Any:
        emulator = self._emulator
        return {
            "mode": "stepped" if emulator.clock.stepped else "live",
            "time": stamp(emulator.clock.now),
            "paused": emulator.clock.paused,
            "speed": emulator.event_queue.speed,
            "epoch": emulator.epoch,
        }

    def _change_clock(self, body: Body) -> Any:
        _check_clock(body, is_stepped=self._emulator.clock.stepped)
        clock = self._emulator.clock
        if "paused" in body:
            if body["paused"]:
                self._emulator.pause()
            else:
                self._emulator.resume()
        if "speed" in body:
            self._emulator.event_queue.speed = float(body["speed"])
        if "advanceSeconds" in body:
            if clock.paused:
                raise ControlError(409, "The clock is paused; time can't be advanced.")
            self._emulator.event_queue.advance(float(body["advanceSeconds"]))
        return self._clock(body)

    def _faults(self, _: Body) -> Any:
        return {"faults": self._emulator.faults.to_json()}

    def _add_fault(self, body: Body) -> Any:
        self._emulator.faults.add(read_fault(body))
        return self._faults(body)

    def _clear_faults(self, body: Body) -> Any:
        self._emulator.faults.clear()
        return self._faults(body)

    def _counters(self, _: Body) -> Any:
        emulator = self._emulator
        counted = {"routes": emulator.counters, "taskLists": emulator.task_lists, "clients": emulator.clients}
        return {name: dict(sorted(counters.items())) for name, counters in counted.items()}

    def _log(self, _: Body) -> Any:
        """Returns the log totals of each account: records by kind, and the numbers of repeated and lost ones."""
        return {
            name: {"told": dict(sorted(log.recorded.items())), "repeated": log.repeated, "lost": log.lost}
            for name, log in zip(self._emulator.simulations, self._emulator.logs, strict=True)
        }

    def _telemetry(self, _: Body) -> Any:
        """Returns the written and missing telemetry of each account's nodes."""
        return {name: sampler.totals for name, sampler in self._emulator.samplers.items()}

    def _schedule_event(self, body: Body) -> Any:
        """Announces an event to the node that this machine plays: its `type`, in so many `seconds`; 409 without one."""
        kind, seconds = body.get("type"), body.get("seconds", 0)
        if kind not in KINDS:
            raise ControlError(400, f"type is one of {', '.join(KINDS)}.")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < _DAY:
            raise ControlError(400, "seconds is a number of seconds within a day.")
        node = machine_node(self._emulator)
        if node is None:
            raise ControlError(409, "This machine plays no node that has booted.")
        self._emulator.scheduled_events.add(kind, self._emulator.clock.now + ticks(seconds), resource_name(node))
        return self._emulator.scheduled_events.events

    def _reset(self, body: Body) -> Any:
        self._emulator.reset()
        return self._clock(body)

    def _settings(self, _: Body) -> Any:
        return asdict(self._emulator.settings)

    def _change_settings(self, body: Body) -> Any:
        self._emulator.settings.copy_from(self._emulator.settings.with_changes(body))
        return self._settings(body)


async def _body(incoming: web.BaseRequest) -> Body:
    try:
        body = orjson.loads(await incoming.read() or b"{}")
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise ControlError(400, "The body is not a JSON object.")
    return body


def _check_clock(body: Body, *, is_stepped: bool) -> None:
    if unknown := sorted(body.keys() - set(_CLOCK)):
        raise ControlError(400, f"There is no '{unknown[0]}' in a clock; known are {', '.join(_CLOCK)}.")
    if not isinstance(body.get("paused", False), bool):
        raise ControlError(400, "paused is true or false.")
    for name, minimum in (("speed", 1e-9), ("advanceSeconds", 0)):
        if name not in body:
            continue
        if not is_stepped:
            raise ControlError(409, f"{name} belongs to the stepped mode; start the emulator with --stepped.")
        value = body[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not (value >= minimum and isfinite(value)):
            raise ControlError(400, f"{name} can't be '{value}'.")


def is_loopback(peer: str | None) -> bool:
    """Returns whether a request's peer is this machine."""
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _json(status: int, body: Any) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")
