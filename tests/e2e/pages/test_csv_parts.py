"""Parts of tables are joined by records, regardless of their chunks: the page's own module, run by Node."""

import json
import subprocess
from typing import Any

import pytest

from local.dev.system.checkout import HERE

HARNESS = """
const { CsvParts, nextOf } = await import(process.argv[1]);
const [parts, links] = JSON.parse(process.argv[2]);
const bytes = (part) => part.map((chunk) => Uint8Array.from(Buffer.from(chunk, "latin1")));
const ask = async (path) => ({
  body: ReadableStream.from(bytes(parts[Number(path)])),
  headers: new Headers(Number(path) + 1 < parts.length ? { Link: `<${Number(path) + 1}>; rel="next"` } : {}),
});
let kept = "";
const add = async (rows) => {
  let text = "";
  for await (const chunk of rows) text += Buffer.from(chunk).toString("latin1");
  kept += text;
};
const table = new CsvParts("0", ask, { add });
let why = null;
await table.read(new AbortController().signal, () => {}).catch((error) => { why = error.message; });
console.log(JSON.stringify({ kept, rows: table.rows, why, links: links.map(nextOf) }));
"""


def put_together(*parts: list[str], links: list[str] | None = None) -> dict[str, Any]:
    """Joins parts in chunks; returns the `kept` text, the number of `rows`, and `why` it ended early."""
    if not HERE.node.exists():
        pytest.skip("Node isn't installed: run python3 dev.py install")
    given = (HERE.web / "src/export/csvParts.ts", json.dumps([parts, links or []]))
    done = subprocess.run(
        [HERE.node, "--input-type=module", "-e", HARNESS, *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_headings_come_once_and_rows_are_counted() -> None:
    found = put_together(["id,n\r\na,1\r\nb,2\r\n"], ["id,n\r\n"], ["id,n\r\nc,3\r\n"])
    assert (found["kept"], found["rows"], found["why"]) == ("id,n\r\na,1\r\nb,2\r\nc,3\r\n", 3, None)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_line_breaks_in_quotes_end_no_record_wherever_chunks_end(size: int) -> None:
    heading = '"the ""first""\r\nline","größe"\r\n'.encode().decode("latin1")
    first, second = heading + '"a\r\n""b""",1\r\n', heading + '"\n",2\r\n"""",3\r\n'
    found = put_together(*[[text[at : at + size] for at in range(0, len(text), size)] for text in (first, second)])
    assert (found["kept"], found["rows"]) == (first + second.removeprefix(heading), 3)


def test_a_part_that_ends_in_a_record_or_has_other_columns_is_not_kept() -> None:
    first = ["id,n\r\na,1\r\n"]
    for cut in ("", "id,n", "id,n\r\nb,2", 'id,n\r\n"b\r\n'):
        found = put_together(first, [cut])
        assert (found["kept"], found["rows"]) == (first[0], 1)
        assert found["why"] == "A response was incomplete; resume the export."
    found = put_together(first, ["id,n,m\r\nb,2,3\r\n"])
    assert (found["kept"], found["why"]) == (first[0], "The table's columns changed during the export; start it again.")


def test_the_next_part_is_the_link_that_says_so() -> None:
    links = ['<https://x/y?a=%3E&b=c>; rel="next"', '<a>; rel="prev", <b>; rel=next', '<a>; rel="prev"', "", "next"]
    assert put_together(["id\r\n"], links=links)["links"] == ["https://x/y?a=%3E&b=c", "b", None, None, None]
