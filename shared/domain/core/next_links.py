"""Detects a paged list whose next links form a cycle, and which would therefore never end.

The method is Brent's: it remembers one link and replaces it each time the distance doubles. It finds a cycle within a
few times the number of different pages, with constant memory.
"""


class NextLinks:
    """The next links of one list. A link is any value that identifies the next page; None ends the list."""

    def __init__(self) -> None:
        self._remembered: object = None
        self._distance = 0
        self._limit = 1

    def is_repeat(self, link: object) -> bool:
        """Adds the link to the next page, and returns True where it is known to be a repeat."""
        if link is None:
            return False
        if link == self._remembered:
            return True
        self._distance += 1
        if self._distance == self._limit:
            self._remembered, self._distance, self._limit = link, 0, 2 * self._limit
        return False
