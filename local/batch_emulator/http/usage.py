"""The control `GET /_emulator/usage`: its query, and the usage of the accounts that it selects."""

from collections.abc import Mapping

from local.batch_emulator.core.stamps import LATEST, parse_stamp, stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.wire.usage import UsageWindow, account_usage

_PARAMETERS = ("from", "to", "account")


def usage(emulator: Emulator, query: Mapping[str, str]) -> Json:
    """Returns seconds of nodes and slots by account. Raises ValueError with an invalid parameter."""
    if unknown := sorted(query.keys() - set(_PARAMETERS)):
        raise ValueError(f"There is no '{unknown[0]}' in usage; known are {', '.join(_PARAMETERS)}.")
    window, now = _window(query), emulator.clock.now
    simulations = {name: emulator.simulations[name] for name in _accounts(emulator, query.get("account"))}
    found = {name: account_usage(each.context.usage, each.account, window, now) for name, each in simulations.items()}
    return {"time": stamp(now), "accounts": found}


def _window(query: Mapping[str, str]) -> UsageWindow:
    start, end = _moment(query, "from", 0), _moment(query, "to", LATEST)
    if end < start:
        raise ValueError("to is before from.")
    return UsageWindow(start, end)


def _moment(query: Mapping[str, str], name: str, default: int) -> int:
    if name not in query:
        return default
    try:
        return parse_stamp(query[name])
    except ValueError:
        raise ValueError(f"{name} is not a time such as 2026-01-05T08:00:00Z: '{query[name]}'.") from None


def _accounts(emulator: Emulator, name: str | None) -> list[str]:
    if name is None:
        return list(emulator.simulations)
    if name not in emulator.simulations:
        raise ValueError(f"There is no account '{name}'; known are {', '.join(emulator.simulations)}.")
    return [name]
