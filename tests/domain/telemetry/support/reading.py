"""Short ways to have bytes decoded, and to compare what came of them."""

from collections.abc import Iterable, Iterator, Sequence

from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.decode.texts import TextReader, Texts
from shared.domain.telemetry.records.metrics import Metric, Rejected, Value
from shared.domain.telemetry.records.precision import Precision

NS = Precision("ns")


def read(text: bytes, precision: Precision = NS) -> Texts:
    """A whole text, as one that was compressed."""
    return TextReader(precision).read(text, ends=True, is_unit=True)


def record(line: str) -> Metric:
    """The one record of a line."""
    found = read(line.encode())
    assert not found.mistakes
    (metric,) = found.metrics
    return metric


def all_steps(stored: bytes, cuts: Iterable[int] = ()) -> Iterator[Step]:
    """Steps of a blob that grows to each of the cuts, and to its end, read each time from where the last step ended."""
    decoder, at = Decoder(), 0
    for cut in (*cuts, len(stored)):
        before = -1
        while before < at:
            before = at
            for step in decoder.steps(stored[at:cut], at, is_last=cut == len(stored)):
                yield step
                at = step.end
                if step.is_refused:
                    return


def contents(steps: Iterable[Step]) -> tuple[list[Metric], list[Rejected]]:
    """All records and all that was rejected."""
    known = list(steps)
    return [metric for step in known for metric in step.metrics], [one for step in known for one in step.rejected]


def kind_of(value: Value) -> dict[str, Value]:
    """A value with its kind, as the published cases write it, which alone tell unsigned numbers apart."""
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    return {"float": value} if isinstance(value, float) else {"string": value}


def plain(metrics: Sequence[Metric]) -> list[object]:
    return [
        (metric.name, dict(metric.tags), {name: kind_of(value) for name, value in metric.fields.items()}, metric.time)
        for metric in metrics
    ]
