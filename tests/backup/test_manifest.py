"""The manifest of a backup is stored with the field names of its classes."""

from datetime import UTC, datetime

import msgspec

from local.backup.manifest import FORMAT, Manifest, Segment, TableCopy

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
STORED = (
    '{"format":1,"version":"0.2.0","prefix":"p","begun":"2026-11-21T07:00:00Z","finished":"2026-11-21T07:00:00Z",'
    '"tables":{"jobs":{"name":"jobs","begun":"2026-11-21T07:00:00Z","finished":"2026-11-21T07:00:00Z","segments":'
    '[{"blob":"jobs/000000.jsonl.gz","rows":1,"bytes":2,"sha256":"s","hash":"h","through":["partition","row"],'
    '"whole":true}],"unsettled":3}},"source":"account"}'
)


def test_a_manifest_has_the_names_that_are_stored() -> None:
    segment = Segment("jobs/000000.jsonl.gz", 1, 2, "s", "h", ("partition", "row"), whole=True)
    copy = TableCopy("jobs", T0, T0, (segment,), 3)
    manifest = Manifest(FORMAT, "0.2.0", "p", T0, T0, {"jobs": copy}, "account")
    assert msgspec.json.encode(manifest).decode() == STORED, "this name is stored: in manifests of backups"
    assert msgspec.json.decode(STORED, type=Manifest) == manifest
