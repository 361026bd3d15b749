"""The node agent: measures a Batch node and its tasks, and appends the records to blobs.

It is one self-contained file for start tasks, built from this folder by `dev.py build`: standard library only, Python
3.8 to 3.14. It imports nothing of the app, and the app imports nothing of it; the contract between them is
docs/agent.md.

Packages, from the bottom up: `records` (records and their line protocol), `machine` (the kernel's files and the
clock), `collectors`, `devices`, `tasks`, `events` and `startup` (measurements), `upload` (spool and append blobs),
`supervision` (one agent a node or task, and its restarts), `telegraf`. `cli` puts them together.
"""

VERSION = "0.2.0"
CONTRACT = 1
"""The version of the blobs' contract, which the first record of each blob names."""
