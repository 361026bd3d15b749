"""The command line and the report of any proof, docs/proofs.md and its charts. Imports `local.dev` only.

`proofs_page` runs under Python 3.8 and later with the standard library alone.
"""
