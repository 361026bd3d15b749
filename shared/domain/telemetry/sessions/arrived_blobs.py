"""Blobs without any series, separate from the reasons for that, as stores need only this."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ArrivedBlob:
    """A blob that arrived; `format` is its apparent format, empty where it wasn't determined.

    `pool` is the pool in its name, if any; `names_node` is False where the name contains no node.
    """

    incarnation: str
    blob: str
    format: str
    pool: str = ""
    names_node: bool = True

    def after(self, earlier: "ArrivedBlob | None") -> "ArrivedBlob":
        """Returns the arrival with the format detected on an earlier day, when the blob's beginning was read."""
        if earlier is None or earlier.incarnation != self.incarnation:
            return self
        return replace(self, format=self.format or earlier.format)
