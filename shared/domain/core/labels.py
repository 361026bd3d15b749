"""Labels: metadata and tags by whose values costs are grouped, as far as the setting COST_LABELS allows their names."""

import re
from collections.abc import Collection, Iterable, Mapping

type Labels = Mapping[str, str]
"""Values by name; a name that isn't there has no value."""
MAX_LABELS = 20
MAX_SEARCHED = 4096
"""Characters of a value that are searched for secrets."""
_MAX_NAME, _MAX_VALUE = 128, 256
_NAME = re.compile(rf"[^,\x00-\x1f]{{1,{_MAX_NAME}}}")


def label_names(text: str) -> tuple[str, ...]:
    """Returns the names in a setting that separates them by commas. Raises ValueError with a sentence."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MAX_LABELS:
        raise ValueError(f"{len(names)} names are more than {MAX_LABELS}")
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name[:_MAX_NAME]}' is not a name of 1 to {_MAX_NAME} printable characters")
    return names


def kept_labels(found: Iterable[tuple[str | None, str | None]], names: Collection[str]) -> dict[str, str]:
    """Returns the values of the names that are allowed, cut at 256 characters; of a name that comes twice the first.

    Values are free of secrets: half of one that is cut can't be recognized any more.
    """
    kept = dict[str, str]()
    for name, value in found:
        if name in names and name is not None and value:
            kept.setdefault(name, value[:_MAX_VALUE])
    return kept
