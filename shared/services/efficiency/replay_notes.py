"""What the replays of a job leave out, in sentences."""

from shared.domain.core.amounts import amount
from shared.domain.efficiency.replay.estimates import Estimate


def replay_notes(estimate: Estimate) -> list[str]:
    """Returns which durations are in no spread as replays with them don't end, and whether there are few replays."""
    found = list[str]()
    if estimate.unended:
        times = " or ".join(f"{bound:.2f}" for bound in estimate.unended)
        text = f"Replays in which runs take {times} times as long don't all end, or only after too many events"
        found.append(f"{text}: the spread leaves out those that don't.")
    if estimate.is_narrow:
        text = f"Replays have so many events that only {amount(estimate.replays, 'replay')} ended"
        found.append(f"{text}: the spread may be too narrow.")
    return found
