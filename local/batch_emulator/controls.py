"""The controls under `/_emulator/`: for tests and demos on this machine, without authentication."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.injection import Fault
from local.batch_emulator.stamps import stamp

type Answer = tuple[int, Json | list[Json] | None]


class Controls:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._routes: Mapping[tuple[str, str], Callable[[Any], Answer]] = {
            ("GET", "truth"): lambda _: (200, emulator.truth()),
            ("GET", "clock"): lambda _: (200, self._clock()),
            ("POST", "clock"): self._set_clock,
            ("GET", "faults"): lambda _: (200, [dataclasses.asdict(fault) for fault in emulator.faults.all]),
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): self._clear_faults,
            ("GET", "counters"): lambda _: (200, self._counters()),
            ("POST", "reset"): self._reset,
            ("GET", "settings"): lambda _: (200, dataclasses.asdict(emulator.knobs)),
            ("POST", "settings"): self._set_knobs,
        }

    def answer(self, method: str, name: str, raw: bytes) -> Answer:
        """Status and JSON of a control."""
        route = self._routes.get((method, name))
        if route is None:
            return 404, {"error": f"There is no control {method} {name}."}
        try:
            body = orjson.loads(raw or b"{}")
        except orjson.JSONDecodeError:
            body = None
        if not isinstance(body, dict):
            return 400, {"error": "The body isn't a JSON object."}
        return route(body)

    def _clock(self) -> Json:
        clock = self._emulator.clock
        return {
            "mode": "stepped" if clock.stepped else "live",
            "time": stamp(clock.now),
            "paused": clock.paused,
            "speed": self._emulator.speed,
            "epoch": self._emulator.epoch,
        }

    def _set_clock(self, body: Json) -> Answer:
        clock = self._emulator.clock
        if unknown := body.keys() - {"paused", "advanceSeconds", "speed"}:
            return 400, {"error": f"There is no '{min(unknown)}' here; known are paused, advanceSeconds, speed."}
        if not clock.stepped and body.keys() & {"advanceSeconds", "speed"}:
            return 409, {"error": "advanceSeconds and speed belong to the stepped mode; start with --stepped."}
        if "paused" in body:
            self._emulator.agenda.run_due()
            (clock.pause if body["paused"] else clock.resume)()
        if "advanceSeconds" in body:
            seconds = body["advanceSeconds"]
            if not isinstance(seconds, int | float) or seconds < 0:
                return 400, {"error": "advanceSeconds is a number of seconds from 0 up."}
            self._emulator.agenda.advance(seconds)
        return 200, self._clock()

    def _add_fault(self, body: Json) -> Answer:
        known = {field.name for field in dataclasses.fields(Fault)}
        if unknown := body.keys() - known:
            return 400, {"error": f"There is no '{min(unknown)}' in a fault; known are {', '.join(sorted(known))}."}
        fault = Fault(**body)
        self._emulator.faults.all.append(fault)
        self._emulator.knobs.lateReportSeconds = self._emulator.faults.late_report_seconds
        return 201, dataclasses.asdict(fault)

    def _clear_faults(self, _: Json) -> Answer:
        self._emulator.faults.all.clear()
        self._emulator.knobs.lateReportSeconds = 0.0
        return 200, {}

    def _counters(self) -> Json:
        return {
            "routes": {name: dict(found) for name, found in sorted(self._emulator.counters.items())},
            "taskLists": {name: dict(found) for name, found in sorted(self._emulator.task_lists.items())},
        }

    def _reset(self, _: Json) -> Answer:
        self._emulator.reset()
        return 200, self._clock()

    def _set_knobs(self, body: Json) -> Answer:
        knobs = self._emulator.knobs
        for name, value in body.items():
            if not hasattr(knobs, name):
                return 400, {
                    "error": f"There is no setting '{name}'; known are {', '.join(dataclasses.asdict(knobs))}."
                }
            if type(value) is not type(getattr(knobs, name)) and not isinstance(getattr(knobs, name), float):
                return 400, {"error": f"'{value}' isn't right for the setting '{name}'."}
        for name, value in body.items():
            setattr(knobs, name, value)
        return 200, dataclasses.asdict(knobs)
