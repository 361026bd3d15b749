"""Texts with placeholders, filled with values that differ from run to run but not from request to request.

`{int 2 80}` is a number in a range, `{hex 8}` so many hexadecimal digits, `{any a|b}` one of several words;
`{pick a|b}` is too, but the same one in all runs of a cause. Placeholders that end in ` #1` and are equal have one
value. Any other name, such as `{task}`, is a value of the caller.
"""

import re
from collections.abc import Callable, Mapping
from random import Random

_PLACEHOLDER = re.compile(r"\{(\w+)(?: ([^{}]*))?\}")
_SHARED = re.compile(r" #\d+$")


def fill_template(text: str, values: Mapping[str, str], *, cause: Random, run: Random) -> str:
    """Returns the text with values for its placeholders. Raises KeyError for an unknown one."""
    shared: dict[str, str] = {}

    def value(found: re.Match[str]) -> str:
        kind, parameter = found[1], found[2] or ""
        if kind not in _KINDS:
            return values[kind]
        plain = _SHARED.sub("", f" {parameter}").strip()
        rng = cause if kind == "pick" else run
        if plain == parameter:
            return _KINDS[kind](plain, rng)
        return shared.setdefault(found[0], _KINDS[kind](plain, rng))

    return _PLACEHOLDER.sub(value, text)


def _int(parameter: str, rng: Random) -> str:
    lowest, highest = map(int, parameter.split())
    return str(rng.randint(lowest, highest))


def _float(parameter: str, rng: Random) -> str:
    lowest, highest = map(float, parameter.split())
    return f"{rng.uniform(lowest, highest):.2f}"


def _hex(parameter: str, rng: Random) -> str:
    return f"{rng.getrandbits(4 * int(parameter)):0{int(parameter)}x}"


def _guid(_: str, rng: Random) -> str:
    return "-".join(_hex(str(digits), rng) for digits in (8, 4, 4, 4, 12))


def _word(parameter: str, rng: Random) -> str:
    return rng.choice(parameter.split("|"))


_KINDS: Mapping[str, Callable[[str, Random], str]] = {
    "int": _int,
    "float": _float,
    "hex": _hex,
    "guid": _guid,
    "any": _word,
    "pick": _word,
}
