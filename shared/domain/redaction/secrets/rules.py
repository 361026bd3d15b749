"""A rule: a word by which it is found, and the regular expression that leads from there to a secret.

Words are looked for as such, which is far faster than any regular expression; most texts have none of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

type Span = tuple[int, int]

_WORD = "[a-z0-9]+"
_MARKS = (
    *"$({]<?@\"'=",
    "--",
    "://",
    *":/-",
    " ",
)  # the rarest first; none of them in a sign has it looked for in every text


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Compiled when it is first needed: rules are many, and most texts need few of them."""
    return re.compile(source, re.MULTILINE)


def matches(source: str, text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """Matches at these positions."""
    pattern = compiled(source)
    return (found for start in starts if (found := pattern.match(text, start)))


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
    """`source` begins where one of the `signs` stands, and has the group `secret`; `is_word` if signs begin words."""

    signs: tuple[str, ...]
    source: str
    is_word: bool


class RuleBook:
    """Rules by their signs, which are looked for once, however many rules have them.

    Most texts are spared even that: signs that are words are looked up among the words of the text, and others only
    where the rarest punctuation mark that they have stands in the text.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        of_words, of_marks = dict[str, list[str]](), dict[str, list[str]]()
        for each in rules:
            for sign in each.signs:
                (of_words if each.is_word else of_marks).setdefault(sign, []).append(each.source)
        self._by_word = _grouped(of_words, _first_word)
        self._by_mark = _grouped(of_marks, _rarest_mark)

    def spans(self, text: str, lowered: str) -> Iterator[Span]:
        """Where secrets are; they may overlap."""
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


def rule(signs: tuple[str, ...], before: str, secret: str, *, whole: bool = False, is_word: bool = False) -> Rule:
    """`secret` is taken out where it stands behind `before`; if `whole`, so is what stands before it."""
    return Rule(signs, f"(?P<secret>{before}(?:{secret}))" if whole else f"{before}(?P<secret>{secret})", is_word)


def _first_word(sign: str) -> str:
    found = compiled(_WORD).match(sign)
    if found is None:
        raise ValueError(f"{sign!r} does not begin with a word")
    return found[0]


def _rarest_mark(sign: str) -> str:
    return next((mark for mark in _MARKS if mark in sign), "")
