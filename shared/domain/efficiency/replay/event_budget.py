"""A bound of the work of replays: their events, which take some microseconds each."""


class EventBudget:
    """The events that are left to replays, which stop where there are none."""

    def __init__(self, left: int) -> None:
        self.left = left

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    def take(self, events: int) -> None:
        self.left -= events
