"""Batch's own list of supported images, and the retirements in it: images whose support ends on a known day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from shared.domain.retirements.announcements import OWN_IMAGE, Announcement

_SOURCE = "https://learn.microsoft.com/rest/api/batchservice/pools/list-supported-images"
_LIST = "`az batch pool supported-images list` shows all that Batch supports"


@dataclass(frozen=True, slots=True)
class SupportedImage:
    """An image of the marketplace, `publisher/offer/sku`, its node agent, and the day on which its support ends."""

    name: str
    node_agent_sku: str
    ends: date | None = None


@dataclass(frozen=True, slots=True)
class SupportedImages:
    """The images that an account's region supports, as listed at a time."""

    as_of: datetime
    images: tuple[SupportedImage, ...] = ()
    etag: str | None = None


def announcements_in(found: SupportedImages) -> list[Announcement]:
    """Returns the ends of images; for images of the user's own, those of the last image with their node agent.

    An agent has an end only where each of its images has one.
    """
    ends = dict[str, date]()
    agents = dict[str, list[date | None]]()
    for image in found.images:
        agents.setdefault(image.node_agent_sku.lower(), []).append(image.ends)
        if image.ends:
            name = image.name.lower()
            ends[name] = min(image.ends, ends.get(name, image.ends))
    read = found.as_of.date()
    kept = [image.name for image in found.images if image.ends is None]
    of_images = [_of_image(name, last, kept, read) for name, last in ends.items()]
    ended = {agent: [day for day in days if day] for agent, days in agents.items() if None not in days}
    return of_images + [_of_agent(agent, max(days), read) for agent, days in ended.items()]


def _of_image(name: str, last: date, kept: Iterable[str], read: date) -> Announcement:
    publisher = name.partition("/")[0] + "/"
    other = max((one for one in kept if one.lower().startswith(publisher)), default="")
    return Announcement(
        id=f"image:{name}",
        what=f"The image {name}",
        when={"image": [name]},
        last_day=last,
        effect="Batch's support of the image ends: new nodes may fail, and Batch may scale such pools to 0.",
        instead=f"{f'An image such as {other}' if other else 'An image that is supported for longer'}; {_LIST}.",
        source=_SOURCE,
        read_on=read,
    )


def _of_agent(agent: str, last: date, read: date) -> Announcement:
    return Announcement(
        id=f"nodeAgentSku:{agent}",
        what=f"All images with the node agent {agent}",
        when={"nodeAgentSku": [agent], "imageKind": [OWN_IMAGE]},
        last_day=last,
        effect="Batch's support of the last image with this node agent ends, and so that of images of one's own.",
        instead=f"An image with a later node agent; {_LIST}.",
        source=_SOURCE,
        read_on=read,
    )
