"""Rules: signs by which a rule is found, and the regular expression that leads from there to a secret.

Signs are searched as plain text, far faster than any regular expression; most texts contain none of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

type Span = tuple[int, int]

_WORD = "[a-z0-9]+"
_MARKS = (*"$({]<?@\"'=", "--", "://", *":/-", " ")  # the rarest first; a sign without any is searched in every text


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Compiles a pattern on first use: there are many rules, and most texts need few of them."""
    return re.compile(source, re.MULTILINE)


def matches(source: str, text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yields matches at these positions."""
    pattern = compiled(source)
    return (found for start in starts if (found := pattern.match(text, start)))


def found_at(text: str, lowered: str, signs: Sequence[str], source: str) -> Iterator[re.Match[str]]:
    """Yields matches that begin at one of the lower-case signs; matches of one sign don't overlap."""
    for sign in signs:
        place = lowered.find(sign)
        while place >= 0:
            found = compiled(source).match(text, place)
            if found:
                yield found
            place = lowered.find(sign, max(found.end() if found else 0, place + len(sign)))


def lower(text: str) -> str:
    """Returns lower case with every character at its position: the few that become two characters stay unchanged."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; `source` begins at one of `signs` and has the group `secret`; with `is_word`, signs begin words."""

    signs: tuple[str, ...]
    source: str
    is_word: bool


class RuleIndex:
    """Rules by sign, each searched once, however many rules share it.

    Most texts need even less: signs that are words are looked up among the text's words, others are searched only where
    the text contains their rarest punctuation mark.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        of_words, of_marks = dict[str, list[str]](), dict[str, list[str]]()
        for each in rules:
            for sign in each.signs:
                (of_words if each.is_word else of_marks).setdefault(sign, []).append(each.source)
        self._by_word = _grouped(of_words, _first_word)
        self._by_mark = _grouped(of_marks, _rarest_mark)

    def spans(self, text: str, lowered: str) -> Iterator[Span]:
        """Yields the positions of secrets; they may overlap."""
        groups = [signs for mark, signs in self._by_mark.items() if mark in lowered]
        groups += (self._by_word[word] for word in self._by_word.keys() & compiled(_WORD).findall(lowered))
        for signs in groups:
            for sign, sources in signs:
                if sign in lowered:
                    for source in sources:
                        for found in found_at(text, lowered, (sign,), source):
                            yield found.span("secret")


def _grouped(
    sources: Mapping[str, Sequence[str]], group: Callable[[str], str]
) -> dict[str, list[tuple[str, Sequence[str]]]]:
    groups: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for sign in sources:
        groups.setdefault(group(sign), []).append((sign, sources[sign]))
    return groups


def signs_of(alternatives: str) -> tuple[str, ...]:
    """Returns the signs that a text separates by `|`."""
    return tuple(alternatives.split("|"))


def rule(signs: str, before: str, secret: str, *, whole: bool = False, is_word: bool = False) -> Rule:
    """Returns a rule that removes `secret` after `before`; with `whole`, it removes `before`, too."""
    source = f"(?P<secret>{before}(?:{secret}))" if whole else f"{before}(?P<secret>{secret})"
    return Rule(signs_of(signs), source, is_word)


def _first_word(sign: str) -> str:
    found = compiled(_WORD).match(sign)
    if found is None:
        raise ValueError(f"{sign!r} does not begin with a word")
    return found[0]


def _rarest_mark(sign: str) -> str:
    return next((mark for mark in _MARKS if mark in sign), "")
