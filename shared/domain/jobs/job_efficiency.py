"""What a job's measured tasks used of what their slots offer, in a few numbers beside the job's own."""

from typing import Any, NamedTuple, Self

import msgspec


class JobEfficiency(NamedTuple):
    """The number of measured runs until `as_of` (seconds since 1970), and used shares of what their slots offer.

    Shares are weighted by the time of runs; None where they are unknown, or too few runs were measured. `cpu` is that
    of vCPUs, `memory` that of peaks, `gpu` that of GPUs.
    """

    runs: int
    as_of: int
    cpu: float | None = None
    memory: float | None = None
    gpu: float | None = None

    def plain(self) -> list[Any]:
        """Returns numbers, for storage."""
        return list(self)

    @classmethod
    def of_plain(cls, stored: Any) -> Self:
        """Returns the inverse of `plain`. Raises ValueError."""
        return msgspec.convert(stored, cls)
