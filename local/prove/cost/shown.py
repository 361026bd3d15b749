"""What an app shows of the day: seconds of nodes by pool, kind and class, unwatched ones by hour, money by job."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from local.prove.cost.rig import Watcher
from local.prove.cost.truth import UNBILLED, Line

READY = frozenset(("running", "idle", "ready"))
UNWATCHED, UNATTRIBUTED = "unwatched", "unattributed"


@dataclass(frozen=True, slots=True)
class Shown:
    """Seconds by hour and line, and money by job, as an app answers; `days` are seconds of pools by cost class."""

    nodes: Mapping[datetime, Counter[Line]]
    jobs: Mapping[str, Decimal]
    days: Mapping[str, Mapping[str, float]]

    @property
    def billed(self) -> float:
        seconds = (amount for hour in self.nodes.values() for line, amount in hour.items() if _is_billed(line))
        return sum(seconds)

    def unwatched(self, pool: str, hours: Iterable[datetime]) -> float:
        """Returns the unwatched seconds of a pool in some hours."""
        lines = [Line(pool, kind, UNWATCHED) for kind in ("dedicated", "spot")]
        return sum(self.nodes[hour][line] for hour in hours for line in lines if hour in self.nodes)

    def in_class(self, name: str) -> float:
        """Returns the rolled-up seconds of all pools in a cost class."""
        return sum(seconds.get(name, 0.0) for seconds in self.days.values())


def shown_by(watcher: Watcher, account: str, pools: Collection[str], start: datetime, end: datetime) -> Shown:
    """Asks an app for a whole day of pools."""
    span = f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M:%SZ}"
    nodes = defaultdict[datetime, Counter[Line]](Counter)
    for pool in pools:
        for step in watcher.get(f"accounts/{account}/pools/{pool}/cost?{span}&step=PT1H")["value"]:
            hour = nodes[datetime.fromisoformat(step["from"])]
            for kind, classes in step["nodeSeconds"].items():
                for name, seconds in classes.items():
                    hour[Line(pool, kind, "ready" if name in READY else name)] += seconds
    by_job = watcher.get(f"accounts/{account}/cost?{span}&groupBy=job&sharing=none")
    by_pool = watcher.get(f"accounts/{account}/cost?{span}&groupBy=pool")
    return Shown(
        nodes,
        {group["name"]: Decimal(str(group["cost"]["amount"] or 0)) for group in by_job["value"] if group["name"]},
        {group["name"]: group["cost"]["nodeSeconds"] for group in by_pool["value"]},
    )


def _is_billed(line: Line) -> bool:
    return line.billing_class not in UNBILLED
