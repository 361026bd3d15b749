"""Conditions of role assignments, worked out for one request: who may do what, rather than how a condition is written.

Source: "Azure role assignment condition format and syntax". Only what infra/ uses is known; all else is refused.
"""

import re
from dataclasses import dataclass, field

from tests.infra.bicep.syntax import BicepError

_BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
READ, ADD, WRITE, DELETE = (f"{_BLOBS}/{verb}" for verb in ("read", "add/action", "write", "delete"))
LIST = "Blob.List"
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[()!])|(?P<word>AND|OR|NOT)\b|(?P<match>ActionMatches|SubOperationMatches)\{'(?P<what>[^']*)'\}"
    r"|@(?P<source>Resource|Request)\[(?P<attribute>[^\]]*)\] (?P<operator>\w+) '(?P<value>[^']*)')"
)


@dataclass(frozen=True, slots=True)
class BlobRequest:
    """A request as a condition sees it: a list has the prefix that it asks for, all others a blob's path."""

    action: str
    path: str | None = None
    prefix: str | None = None

    @property
    def suboperation(self) -> str:
        return LIST if self.path is None else ""


@dataclass(slots=True)
class _Reader:
    """A condition on its way to a truth value."""

    request: BlobRequest
    tokens: list[re.Match[str]] = field(default_factory=list)

    def whole(self) -> bool:
        value = self.either()
        if self.tokens:
            raise BicepError(f"a condition goes on with {self.tokens[0][0]}")
        return value

    def either(self) -> bool:
        values = [self.both()]
        while self._next("word", "OR"):
            values.append(self.both())
        return any(values)

    def both(self) -> bool:
        values = [self.one()]
        while self._next("word", "AND"):
            values.append(self.one())
        return all(values)

    def one(self) -> bool:
        if self._next("mark", "!") or self._next("word", "NOT"):
            return not self.one()
        if self._next("mark", "("):
            value = self.either()
            if not self._next("mark", ")"):
                raise BicepError("a condition has an open bracket")
            return value
        return self._term()

    def _term(self) -> bool:
        if not self.tokens or not (self.tokens[0]["match"] or self.tokens[0]["source"]):
            raise BicepError("a condition lacks a term")
        token = self.tokens.pop(0)
        if token["match"]:
            held = self.request.action if token["match"] == "ActionMatches" else self.request.suboperation
            return held == token["what"]
        known = {
            ("Resource", f"{_BLOBS}:path"): self.request.path,
            ("Request", f"{_BLOBS}:prefix"): self.request.prefix,
        }
        place = token["source"], token["attribute"]
        if place not in known or token["operator"] != "StringStartsWith":
            raise BicepError(f"a condition has the unknown term {token[0]}")
        value = known[place]
        return value is not None and value.startswith(token["value"])

    def _next(self, kind: str, text: str) -> bool:
        found = bool(self.tokens) and self.tokens[0][kind] == text
        if found:
            self.tokens.pop(0)
        return found


def allows(condition: str, request: BlobRequest) -> bool:
    """Whether a condition lets a request pass. Raises BicepError for what it can't read."""
    tokens, place = [], 0
    while place < len(condition.rstrip()):
        token = _TOKEN.match(condition, place)
        if token is None:
            raise BicepError(f"a condition can't be read from {condition[place:][:40]!r} on")
        tokens.append(token)
        place = token.end()
    return _Reader(request, tokens).whole()
