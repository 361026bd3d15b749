"""Short helpers that decode bytes and compare the results."""

from collections.abc import Iterable, Iterator, Sequence

from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.decode.texts import TextReader, Texts
from shared.domain.telemetry.records.metrics import InvalidPart, Metric, Value
from shared.domain.telemetry.records.precision import Precision

NS = Precision("ns")


def read(text: bytes, precision: Precision = NS) -> Texts:
    """Decodes a whole text, as if it had been compressed."""
    return TextReader(precision).read(text, ends=True, is_unit=True)


def record(line: str) -> Metric:
    """Returns the only record of a line."""
    found = read(line.encode())
    assert not found.mistakes
    (metric,) = found.metrics
    return metric


def all_steps(stored: bytes, cuts: Iterable[int] = ()) -> Iterator[Step]:
    """Yields the steps of a blob that grows to each cut and to its end, or to a line that is too long.

    Each read continues after the last step.
    """
    decoder, at, in_damage = Decoder(), 0, False
    for cut in (*cuts, len(stored)):
        before = -1
        while before < at:
            before = at
            for step in decoder.steps(stored[at:cut], at, is_last=cut == len(stored), in_damage=in_damage):
                yield step
                at, in_damage = step.end, step.in_damage
                if step.in_line:
                    return


def contents(steps: Iterable[Step]) -> tuple[list[Metric], list[InvalidPart]]:
    """Returns all records and all rejects."""
    known = list(steps)
    return [metric for step in known for metric in step.metrics], [one for step in known for one in step.rejected]


def kind_of(value: Value) -> dict[str, Value]:
    """Returns a value with its kind, in the form of the published cases."""
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
