"""A rule: a word by which it is found, and the regular expression that leads from there to a secret.

Words are looked for as such, which is far faster than any regular expression; most texts have none of them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

type Span = tuple[int, int]


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Compiled when it is first needed: rules are many, and most texts need few of them."""
    return re.compile(source, re.MULTILINE)


def found_at(text: str, lowered: str, signs: Sequence[str], source: str) -> Iterator[re.Match[str]]:
    """Matches that begin at one of the signs, which are in lower case; none of a sign overlaps the one before."""
    for sign in signs:
        place = lowered.find(sign)
        while place >= 0:
            found = compiled(source).match(text, place)
            if found:
                yield found
            place = lowered.find(sign, max(found.end() if found else 0, place + len(sign)))


def lower(text: str) -> str:
    """In lower case, every character at its place: the few that become two stay as they are."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)


@dataclass(frozen=True, slots=True)
class Rule:
    """`source` begins where one of the `signs` stands, and has the group `secret`."""

    signs: tuple[str, ...]
    source: str


class RuleBook:
    """Rules by their signs, so that those are looked for once, however many rules have them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._sources: dict[str, list[str]] = {}
        for each in rules:
            for sign in each.signs:
                self._sources.setdefault(sign, []).append(each.source)

    def spans(self, text: str, lowered: str) -> Iterator[Span]:
        """Where secrets are; they may overlap."""
        for sign in [sign for sign in self._sources if sign in lowered]:
            for source in self._sources[sign]:
                for found in found_at(text, lowered, (sign,), source):
                    yield found.span("secret")


def rule(signs: tuple[str, ...], before: str, secret: str, *, whole: bool = False) -> Rule:
    """`secret` is taken out where it stands behind `before`; if `whole`, so is what stands before it."""
    return Rule(signs, f"(?P<secret>{before}(?:{secret}))" if whole else f"{before}(?P<secret>{secret})")
