"""Batch's own list of supported images, and the retirements in it: images whose support ends, or that left the list.

An image may be listed with several node agents, each with an end of its own.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from shared.domain.retirements.announcements import Announcement
from shared.domain.retirements.conditions import OWN_IMAGE

_SOURCE = "https://learn.microsoft.com/rest/api/batchservice/pools/list-supported-images"
_LIST = "`az batch pool supported-images list` shows all that Batch supports"
_WINDOWS = "batch.node.windows"
_OLD = timedelta(days=2)  # it is read once a day


@dataclass(frozen=True, slots=True)
class SupportedImage:
    """An image of the marketplace, `publisher/offer/sku`, with a node agent, and the day on which its support ends.

    `last_listed` is None while Batch lists it, later the day of the last list that had it.
    """

    name: str
    node_agent_sku: str
    ends: date | None = None
    last_listed: date | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.name.lower(), self.node_agent_sku.lower()

    @property
    def is_ending(self) -> bool:
        return self.ends is not None or self.last_listed is not None

    @property
    def until(self) -> date:
        """Returns the day until which it may be used, as far as known."""
        return self.ends or self.last_listed or date.max


@dataclass(frozen=True, slots=True)
class SupportedImages:
    """The images that an account's region supports, as listed at a time, and those that earlier lists had.

    `as_of` is None where no list could be read. `problem` says what isn't known and why, for the list or parts of it.
    """

    as_of: datetime | None
    images: tuple[SupportedImage, ...] = ()
    etag: str | None = None
    problem: str = ""

    def after(self, earlier: "SupportedImages") -> "SupportedImages":
        """Returns this list with the images that only the earlier one has, as they were listed last.

        Pools may still run on them. They are some tens a year, and kept for good. Where some of this list weren't
        understood, the missing ones may be among these, and stay as they were.
        """
        if earlier.as_of is None:
            return self
        listed, day = {image.key for image in self.images}, None if self.problem else earlier.as_of.date()
        gone = (replace(image, last_listed=image.last_listed or day) for image in earlier.images)
        return replace(self, images=(*self.images, *(image for image in gone if image.key not in listed)))

    def failed(self, why: str) -> "SupportedImages":
        """Returns these images after a failed request for the next list."""
        last = f" The last one is of {self.as_of:%Y-%m-%d}." if self.as_of else ""
        return replace(self, problem=f"Batch's list of supported images can't be read: {why}{last}")


def unknown_images(found: SupportedImages | None, now: datetime) -> str:
    """Returns a sentence on what isn't known of an account's images, and why; empty where they are known."""
    if found is None:
        return "Batch's list of supported images hasn't been read yet."
    if found.as_of and not found.problem and now - found.as_of > _OLD:
        return f"Batch's list of supported images is of {found.as_of:%Y-%m-%d}: it wasn't read since."
    return found.problem


def announcements_in(found: SupportedImages) -> list[Announcement]:
    """Returns the ends of images; for images of the user's own, those of the last image with their node agent.

    An agent has an end only where each of its images has one.
    """
    if found.as_of is None:
        return []
    by_name, by_agent = dict[str, dict[str, SupportedImage]](), dict[str, list[SupportedImage]]()
    for image in sorted(found.images, key=lambda image: (image.last_listed is not None, image.until)):
        name, agent = image.key
        by_name.setdefault(name, {}).setdefault(agent, image)
        by_agent.setdefault(agent, []).append(image)
    choices = [min(of_name.values(), key=lambda image: image.until) for of_name in by_name.values()]
    read = found.as_of.date()
    of_images = [one for name, agents in by_name.items() for one in _of_image(name, agents, choices, read)]
    return of_images + [one for agent, images in by_agent.items() for one in _of_agent(agent, images, read)]


def _of_image(
    name: str, agents: dict[str, SupportedImage], choices: Sequence[SupportedImage], read: date
) -> Iterator[Announcement]:
    """Yields the ends of an image, one for the node agents with which it ends on the same day.

    Each names these agents as its condition, so that it concerns no image of the user's own with another agent.
    """
    ending = dict[tuple[date | None, date | None], list[SupportedImage]]()
    for image in agents.values():
        if image.is_ending:
            ending.setdefault((image.ends, image.last_listed), []).append(image)
    for (last, last_listed), images in ending.items():
        skus = sorted(image.node_agent_sku.lower() for image in images)
        of_agents = "" if len(skus) == len(agents) else f" with the node agent {' or '.join(skus)}"
        others = [image for image in agents.values() if image not in images]
        yield Announcement(
            id=f"image:{name}",
            what=f"The image {name}{of_agents}{_last_listed(last_listed)}",
            when={"image": [name], "nodeAgentSku": skus},
            last_day=last,
            effect="Batch's support of the image ends: new nodes may fail, and Batch may scale such pools to 0.",
            instead=f"{_substitute(images[0], others, choices, read)}; {_LIST}.",
            source=_SOURCE,
            read_on=last_listed or read,
        )


def _substitute(
    image: SupportedImage, others: Iterable[SupportedImage], choices: Sequence[SupportedImage], read: date
) -> str:
    """Returns what to use instead of an image: itself with another agent, or another of its publisher, the latest."""
    after = max(read, image.ends or read)
    if longer := max((one for one in others if _lasts(one, after)), key=lambda one: one.until, default=None):
        return f"The same image with the node agent {longer.node_agent_sku}{_until(longer)}"
    found = max(
        (one for one in choices if _lasts(one, after) and _is_similar(one, image)),
        key=lambda one: (one.until == date.max, _family(one) == _family(image), one.until, one.name),
        default=None,
    )
    return f"An image such as {found.name}{_until(found)}" if found else "An image that is supported for longer"


def _lasts(image: SupportedImage, after: date) -> bool:
    return image.last_listed is None and image.until > after


def _is_similar(one: SupportedImage, other: SupportedImage) -> bool:
    """Returns whether two images are of one publisher, and both of Windows or neither."""
    publishers = [image.key[0].partition("/")[0] for image in (one, other)]
    windows = [_family(image) == _WINDOWS for image in (one, other)]
    return publishers[0] == publishers[1] and windows[0] == windows[1] and one.key[0] != other.key[0]


def _family(image: SupportedImage) -> str:
    """Returns the agent without its version, such as `batch.node.ubuntu`."""
    return image.key[1].partition(" ")[0]


def _until(image: SupportedImage) -> str:
    return f" (until {image.ends})" if image.ends else ""


def _last_listed(day: date | None) -> str:
    return f" (no longer listed by Batch, last on {day})" if day else ""


def _of_agent(agent: str, images: Collection[SupportedImage], read: date) -> Iterator[Announcement]:
    """Yields the end of a node agent: that of its last image, unless one is listed without an end."""
    days = [image.ends for image in images if image.ends]
    listed = [image for image in images if image.last_listed is None]
    if any(image.ends is None for image in listed):
        return
    last_listed = None if listed else max(image.last_listed for image in images if image.last_listed)
    yield Announcement(
        id=f"nodeAgentSku:{agent}",
        what=f"All images with the node agent {agent}{_last_listed(last_listed)}",
        when={"nodeAgentSku": [agent], "imageKind": [OWN_IMAGE]},
        last_day=max(days, default=None),
        effect="Batch's support of the last image with this node agent ends, and so that of images of one's own.",
        instead=f"An image with a later node agent; {_LIST}.",
        source=_SOURCE,
        read_on=last_listed or read,
    )
