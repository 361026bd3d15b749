"""Every property of a filter row with every operator and kind of literal, and whether the service accepts it."""

from collections.abc import Iterator, Mapping

LITERALS = {
    "String": "'active'",
    "DateTime": "DateTime'2026-01-05T08:00:00.1234567Z'",
    "Int": "5",
    "Boolean": "true",
}
WORDS = {
    "allocationState": "'steady'",
    "osType": "'linux'",
    "verificationType": "'verified'",
    "nodeAgentSKUId": "'batch.node.ubuntu 22.04'",
    "state": "'active'",
    "result": "'success'",
}
NODE_WORDS = {"state": "'idle'"}
RUN_WORDS = {"state": "'completed'"}
COMPARISONS = ("eq", "ne", "ge", "gt", "le", "lt")


def word_for(path: str, resource: str) -> str:
    """Returns a literal that a String property accepts."""
    last = path.rpartition("/")[2]
    if path.startswith(("startTaskInfo", "jobPreparation", "jobRelease")) and last == "state":
        return RUN_WORDS["state"]
    if resource == "nodes" and last == "state":
        return NODE_WORDS["state"]
    return WORDS.get(last, "'x'")


def conditions(resource: str, path: str, row: str) -> Iterator[tuple[str, bool]]:
    """Yields filters over one property, and whether a row such as `eq ne:String` permits each."""
    listed, _, kind = row.partition(":")
    allowed = set(COMPARISONS if listed == "all6" else listed.split())
    own = word_for(path, resource) if kind == "String" else LITERALS[kind]
    some = min(allowed - {"startswith"}, default="eq")
    for operator in COMPARISONS:
        yield f"{path} {operator} {own}", operator in allowed
    yield f"startswith({path}, 'a')", "startswith" in allowed
    for other, literal in LITERALS.items():
        if other != kind:
            yield f"{path} {some} {literal}", False
    yield f"{path.swapcase()} {some} {own}", False


def expanded(rows: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields rows by whole path; `a/b|c` stands for two paths, and `z/*: same` repeats the previous row's paths."""
    before: list[tuple[str, str]] = []
    for name, row in rows.items():
        head, _, tail = name.rpartition("/")
        if row == "same":
            yield from ((f"{head}/{path.rpartition('/')[2]}", each) for path, each in before)
            continue
        found = [(f"{head}/{each}" if head else each, row) for each in tail.split("|")]
        before += [each for each in found if "/" in each[0]]
        yield from found
