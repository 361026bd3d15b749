"""The next links of one list, none of which may come twice: a list whose links go in a circle never ends.

Brent's cycle detection. One link is remembered, and another in its place each time the distance doubles, so a circle of
any length is found after at most a few times its length, however long the list is.
"""


class NextLinks:
    """A link is whatever the service identifies the next page by; None ends a list."""

    def __init__(self) -> None:
        self._remembered: object = None
        self._distance = 0
        self._limit = 1

    def is_repeat(self, link: object) -> bool:
        """Takes the link to the next page; True where the list was there before."""
        if link is None:
            return False
        if link == self._remembered:
            return True
        self._distance += 1
        if self._distance == self._limit:
            self._remembered, self._distance, self._limit = link, 0, 2 * self._limit
        return False
