"""Route templates of HTTP functions, and the choice of the route for a request. Pure.

The templates are ASP.NET's, as far as Azure documents them for functions: literals, {x}, {x?}, {x=default}, {*x} and
{x:constraint}. A literal ranks before a constrained parameter, then a plain one, then a catch-all. A function that
doesn't support the method is no candidate: the next one answers, or the result is 404.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_PARAMETER = re.compile(
    r"{(?P<star>\*{0,2})(?P<name>\w+)(?P<rules>(?::(?:[^{}():=?]+(?:\((?:[^{}()]|{{[^{}]*}})*\))?))*)"
    r"(?:=(?P<default>[^{}?]*))?(?P<optional>\?)?}",
)
_RULE = re.compile(r":(?P<name>[^{}():=?]+)(?:\((?P<argument>(?:[^{}()]|{{[^{}]*}})*)\))?")
_PATTERNS: Final = {
    "int": r"-?\d+",
    "long": r"-?\d+",
    "float": r"-?\d+(\.\d+)?",
    "double": r"-?\d+(\.\d+)?",
    "decimal": r"-?\d+(\.\d+)?",
    "alpha": r"[a-z]*",
    "bool": r"true|false",
    "guid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "datetime": r"\d{4}-\d{2}-\d{2}([t ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(z|[+-]\d{2}:\d{2})?)?",
}
_LITERAL, _CONSTRAINED, _PLAIN, _CATCH_ALL = range(1, 5)

type Rule = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Route:
    """A function's route, including the prefix. An empty `methods` means every method."""

    function: str
    template: str
    methods: frozenset[str]
    pattern: re.Pattern[str]
    rules: Mapping[str, tuple[Rule, ...]]
    defaults: dict[str, str]
    rank: tuple[int, ...]

    @classmethod
    def parse(cls, function: str, template: str, methods: Iterable[str]) -> "Route":
        """Parses a template; raises ValueError if it is invalid."""
        template = template.strip("/")
        segments = template.split("/")
        parameters = list(_PARAMETER.finditer(template))
        return cls(
            function=function,
            template=template,
            methods=frozenset(method.upper() for method in methods),
            pattern=re.compile("".join(map(_segment_pattern, segments)) + "/?", re.IGNORECASE),
            rules={one["name"]: tuple(map(_rule, _RULE.finditer(one["rules"]))) for one in parameters},
            defaults={one["name"]: one["default"] for one in parameters if one["default"]},
            rank=tuple(map(_segment_rank, segments)),
        )

    def match(self, path: str) -> dict[str, str] | None:
        """Returns the parameters in a path, or None if the path doesn't match."""
        found = self.pattern.fullmatch(path)
        if found is None:
            return None
        values = self.defaults | {name: value for name, value in found.groupdict().items() if value}
        fits = all(rule(value) for name, value in values.items() for rule in self.rules[name])
        return values if fits else None

    @property
    def shape(self) -> str:
        """The template without parameter names: routes of one shape compete for the same requests."""
        return _PARAMETER.sub(lambda one: f"{{{one['star']}{one['rules']}}}", self.template).lower()


@dataclass(frozen=True, slots=True)
class RouteMatch:
    function: str
    parameters: Mapping[str, str]


class RouteTable:
    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = sorted(routes, key=lambda route: route.rank)

    def find(self, method: str, path: str) -> RouteMatch | None:
        for route in self.routes:
            if route.methods and method not in route.methods:
                continue
            if (parameters := route.match(path)) is not None:
                return RouteMatch(route.function, parameters)
        return None


def _segment_pattern(segment: str) -> str:
    found = list(_PARAMETER.finditer(segment))
    literals = _PARAMETER.sub("\0", segment).split("\0")
    if any("{" in text or "}" in text for text in literals):
        raise ValueError(f"'{segment}' isn't a route segment")
    values = [f"(?P<{one['name']}>{'.*' if one['star'] else '[^/]+'})" for one in found] + [""]
    pattern = "".join(re.escape(text) + value for text, value in zip(literals, values, strict=True))
    may_be_absent = any(one["optional"] or one["star"] or one["default"] for one in found)
    return f"(?:/{pattern})?" if may_be_absent else f"/{pattern}"


def _segment_rank(segment: str) -> int:
    found = _PARAMETER.search(segment)
    if found is None:
        return _LITERAL
    if found["star"]:
        return _CATCH_ALL
    return _CONSTRAINED if found["rules"] or found[0] != segment else _PLAIN


def _rule(found: re.Match[str]) -> Rule:
    name, argument = found["name"].strip().lower(), found["argument"]
    if name == "regex" and argument:
        return _matches(argument.replace("{{", "{").replace("}}", "}"), whole=False)
    if argument is None and name in _PATTERNS:
        return _matches(_PATTERNS[name], whole=True)
    try:
        return _bounds(name, [int(number) for number in (argument or "").split(",")])
    except (KeyError, ValueError, IndexError):
        raise ValueError(f"'{found[0][1:]}' isn't a route constraint") from None


def _matches(pattern: str, *, whole: bool) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
    return lambda value: bool(compiled.fullmatch(value) if whole else compiled.search(value))


def _bounds(name: str, numbers: list[int]) -> Rule:
    low, high = numbers[0], numbers[-1]
    rules: dict[str, Rule] = {
        "length": lambda value: low <= len(value) <= high,
        "minlength": lambda value: len(value) >= low,
        "maxlength": lambda value: len(value) <= high,
        "min": lambda value: (number := _number(value)) is not None and number >= low,
        "max": lambda value: (number := _number(value)) is not None and number <= high,
        "range": lambda value: (number := _number(value)) is not None and low <= number <= high,
    }
    return rules[name]


def _number(value: str) -> int | None:
    return int(value) if re.fullmatch(r"-?\d+", value, re.ASCII) else None
