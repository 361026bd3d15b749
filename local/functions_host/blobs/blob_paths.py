"""The path of a blob trigger: a container and a pattern of blob names, matched as in Azure's host.

`{name}` matches any text, including folders, greedily; `{{` and `}}` stand for single brackets. A path without a
pattern matches all blobs of its container. The matched values are available to the function's bindings.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_CONTAINER = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
_PARTS = re.compile(r"(\{\{|\}\})|\{([A-Za-z_]\w*)\}|([^{}]+)|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BlobPath:
    """A container and a pattern of blob names."""

    container: str
    _pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> "BlobPath":
        """Parses a path. Raises ValueError with a sentence if Azure's host would refuse it."""
        container, _, names = text.partition("/")
        if not _CONTAINER.fullmatch(container):
            raise ValueError(f"'{container}' isn't a container's name (3 to 63 of a-z, 0-9 and single hyphens)")
        found = [_Part(*parts.groups()) for parts in _PARTS.finditer(names or "{_}")]
        if any(part.stray for part in found):
            raise ValueError(f"the path '{text}' has a bracket without its other, or something else than a name in two")
        placeholder_names = [part.name for part in found if part.name]
        if len(placeholder_names) != len(set(placeholder_names)):
            raise ValueError(f"the path '{text}' has the same name in brackets twice")
        return cls(container, re.compile("".join(part.pattern for part in found)))

    def values(self, name: str) -> Mapping[str, str] | None:
        """Returns the values in brackets for a blob's name; None if the path doesn't match."""
        found = self._pattern.fullmatch(name)
        return {key: value for key, value in found.groupdict().items() if key != "_"} if found else None


@dataclass(frozen=True, slots=True)
class _Part:
    bracket: str | None
    name: str | None
    text: str | None
    stray: str | None

    @property
    def pattern(self) -> str:
        if self.name:
            return f"(?P<{self.name}>.*)"
        return re.escape((self.bracket or "")[:1] or self.text or "")
