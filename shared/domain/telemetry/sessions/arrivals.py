"""Blobs that came of which nothing is in a series; apart from why that is, as stores need no more than this."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Arrival:
    """A blob that came: `format` is what it seems to be, empty where nobody looked.

    `pool` is the one that it names, if any; without `names_node` it names no node.
    """

    incarnation: str
    blob: str
    format: str
    pool: str = ""
    names_node: bool = True

    def after(self, earlier: "Arrival | None") -> "Arrival":
        """The same, with the format that was seen on an earlier day, when its beginning was read."""
        if earlier is None or earlier.incarnation != self.incarnation:
            return self
        return replace(self, format=self.format or earlier.format)
