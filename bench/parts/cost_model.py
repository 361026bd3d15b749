"""A month's bill from counts and prices: measured shapes give rates per quantity, which give the counts of any case.

Everything grows in proportion to the numbers of accounts, jobs, changing jobs, pools, nodes and writing nodes. The file
of prices names the other assumptions. Free grants and discounts aren't counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

_GIGA = 1e9
_MINUTES_A_DAY, _HOURS = 1440, 730
_TEN_THOUSAND, _MILLION = 10_000, 1_000_000
_BLOBS_A_PAGE = 1_000  # blobs per list page in shared/stores/blobs/blobs.py; measured shapes have fewer
_TELEMETRY = -1  # index of the last quantity of a case

type Rates = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Case:
    """Total quantities; `changing` jobs get a task each minute, `telemetry` nodes write."""

    accounts: int = 1
    jobs: int = 0
    changing: int = 0
    pools: int = 0
    nodes: int = 0
    telemetry: int = 0

    @property
    def amounts(self) -> tuple[int, ...]:
        """The quantities that counts are proportional to; the first is the 1 of the tick."""
        return 1, *astuple(self)


@dataclass(frozen=True, slots=True)
class Line:
    """Part of a bill: `amount` in a `unit` costs `cost` dollars a month; `basis` names the source of the amount."""

    what: str
    amount: float
    unit: str
    cost: float
    basis: str


def rates_of(shapes: Sequence[Mapping[str, Any]]) -> Rates:
    """Returns rates per quantity, by section and measure, from as many shapes as quantities."""
    cases = [Case(**shape["case"]).amounts for shape in shapes]
    sections = [name for name in shapes[0] if name != "case"]
    found: dict[str, dict[str, Sequence[float]]] = {}
    for section in sections:
        measures = sorted({measure for shape in shapes for measure in shape[section]})
        found[section] = {
            measure: _solved(cases, [shape[section].get(measure, 0.0) for shape in shapes]) for measure in measures
        }
    return found


def _solved(cases: Sequence[Sequence[int]], totals: Sequence[float]) -> list[float]:
    """Solves for the rates by Gauss-Jordan elimination, so that they sum to each case's total; none is negative."""
    rows = [[*map(float, case), value] for case, value in zip(cases, totals, strict=True)]
    for place in range(len(rows)):
        pivot = max(range(place, len(rows)), key=lambda number: abs(rows[number][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        head = [value / rows[place][place] for value in rows[place]]
        rows = [
            head if number == place else [value - row[place] * top for value, top in zip(row, head, strict=True)]
            for number, row in enumerate(rows)
        ]
    return [max(row[-1], 0.0) for row in rows]


class Month:
    """The monthly counts of a case, by `values`: prices and assumptions by name."""

    def __init__(self, case: Case, rates: Rates, values: Mapping[str, float]) -> None:
        self._case, self._rates, self._values = case, rates, values
        self._times = {
            "tick": values["ticksAMonth"],
            "hour": float(_HOURS),
            "scrape": values["scrapesAMonth"],
        }

    def of(self, section: str, measure: str) -> float:
        """Returns the count of one tick, run of housekeeping or scrape."""
        return sum(self._parts(section, measure))

    def _parts(self, section: str, measure: str) -> list[float]:
        rates = self._rates[section].get(measure, ())
        return [rate * amount for rate, amount in zip(rates, self._case.amounts, strict=False)]

    def total(self, measure: str) -> float:
        """Returns the monthly count, without users' requests."""
        return sum(self.of(section, measure) * times for section, times in self._times.items())

    def seconds(self, section: str) -> float:
        """Returns its duration: its CPU and waits for storage and Batch, at least the billed minimum of a second."""
        kinds = ("table", "blobRead", "blobList", "blobWrite", "queueWrites")
        operations = sum(self.of(section, kind) for kind in kinds)
        waits = operations * self._values["storageSeconds"] + self.of(section, "batch") * self._values["batchSeconds"]
        return max(1.0, self.of(section, "cpuSeconds") + waits / self._values["requestsAtOnce"])

    @property
    def busy_seconds(self) -> float:
        """Seconds in which functions run, including users' requests."""
        own = sum(self.seconds(section) * times for section, times in self._times.items())
        return own + self._values["dashboardRequestsAMonth"]

    @property
    def executions(self) -> float:
        return sum(self._times.values()) + self._values["dashboardRequestsAMonth"]

    @property
    def row_gigabytes(self) -> float:
        """The size of initial rows, and of each tick's additions over their retention."""
        *others, telemetry = self._parts("tick", "rowBytes")
        days = self._values["historyMinuteDays"] + self._values["historyQuarterHourDays"] / 15
        telemetry_days = self._values["telemetryMinuteDays"] + self._values["telemetryHourDays"] / 60
        added = sum(others) * days + telemetry * telemetry_days
        return (sum(self._parts("stored", "rowBytes")[:_TELEMETRY]) + added * _MINUTES_A_DAY) / _GIGA

    @property
    def blob_gigabytes(self) -> float:
        days = self._values["telemetryBlobDays"]
        return self.of("tick", "blobBytes") * days * _MINUTES_A_DAY / _GIGA


def bill(case: Case, rates: Rates, values: Mapping[str, float]) -> list[Line]:
    """Returns all lines of a month, in the order of the page."""
    month = Month(case, rates, values)
    return [
        *_compute(month, values),
        *_operations(month, case, values),
        *_capacity(month, values),
        *_others(month, values),
    ]


def log_analytics(case: Case, values: Mapping[str, float]) -> Line:
    """Returns what the telemetry of the case's nodes would be as records of performance counters in Log Analytics."""
    records = case.telemetry * values["seriesANode"] * values["ticksAMonth"]
    size = records * values["logBytesARecord"] / _GIGA
    return Line("Log Analytics", size, "GB", size * values["logGigabyte"], "assumed")


def _compute(month: Month, values: Mapping[str, float]) -> Iterator[Line]:
    amount = month.busy_seconds * values["instanceGigabytes"]
    yield Line("compute", amount, "GB-s", amount * values["gigabyteSecond"], "CPU measured, waits assumed")
    runs = month.executions
    yield Line("executions", runs, "", runs * values["millionExecutions"] / _MILLION, "assumed")


def _operations(month: Month, case: Case, values: Mapping[str, float]) -> Iterator[Line]:
    def line(what: str, amount: float, price: str, basis: str) -> Line:
        return Line(what, amount, "", amount * values[price] / _TEN_THOUSAND, basis)

    people = values["dashboardRequestsAMonth"] * values["tableOperationsARequest"]
    ticks = values["ticksAMonth"]
    yield line("table operations", month.total("table") + people, "tableOperations", "measured")
    further = case.telemetry // _BLOBS_A_PAGE * ticks  # with one blob per node
    yield line("lists of blobs", month.total("blobList") + further, "blobWrites", "measured")
    yield line("reads of blobs", month.total("blobRead"), "blobReads", "measured")
    appends = case.telemetry * values["flushesAMinute"] * ticks
    yield line("appends of nodes' telemetry", appends, "blobWrites", "assumed")
    yield line("the host's leases and timers", ticks * values["hostBlobWritesATick"], "blobWrites", "assumed")
    queues = ticks * values["queueOperationsAMinute"] + month.total("queueWrites")
    yield line("queue operations", queues, "queueOperations", "assumed")


def _capacity(month: Month, values: Mapping[str, float]) -> Iterator[Line]:
    rows, blobs = month.row_gigabytes, month.blob_gigabytes
    yield Line("tables", rows, "GB", rows * values["tableGigabyte"], "growth measured")
    yield Line("telemetry blobs", blobs, "GB", blobs * values["blobGigabyte"], "growth measured")


def _others(month: Month, values: Mapping[str, float]) -> Iterator[Line]:
    people = values["dashboardRequestsAMonth"]
    sent = (month.total("egressBytes") + people * values["bytesARequest"]) / _GIGA
    yield Line("egress", sent, "GB", sent * values["egressGigabyte"], "scrapes measured")
    logged = (month.total("logBytes") + month.executions * values["hostLogBytesAnExecution"]) / _GIGA
    yield Line("logs", logged, "GB", logged * values["logGigabyte"], "own lines measured")
    rules = values["alertRules"]
    yield Line("alert rules", rules, "", rules * values["alertRule"], "assumed")
