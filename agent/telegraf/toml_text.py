"""Text of TOML files, as far as Telegraf's configurations need it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Union

TomlValue = Union[str, bool, int, "Sequence[str]"]


def section(title: str, values: Mapping[str, TomlValue], comment: str = "") -> str:
    """Returns a table with its title, `[agent]` for instance, and a comment above it. Raises ValueError."""
    comments = [f"# {line}" for line in comment.splitlines()]
    return "\n".join([*comments, title, *(f"  {name} = {toml_of(value)}" for name, value in values.items()), ""])


def toml_of(value: TomlValue) -> str:
    """Returns a value's text. Raises ValueError for a text that Telegraf would read as a variable."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    return f"[{', '.join(_quoted(part) for part in value)}]"


def _quoted(text: str) -> str:
    if "$" in text:
        raise ValueError(f"Telegraf would read {text!r} as a variable of the environment: use a text without $.")
    # JSON's escapes are TOML's, but for DEL
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
