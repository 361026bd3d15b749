"""Long proofs, too slow for `test`: `python3 dev.py prove NAME` runs `NAME.py`, or `NAME/__main__.py` with its parts.

Every proof states its claim in its docstring, has its paths in `MEASURED_PATHS`, and exits with 0 only if it
holds. Proofs import packages of `local`, and some import `tests`. They never import the app: they run it as a program.
Parts that several proofs share are in `stack` (services and the truth), `load` (jobs with very many tasks) and
`reporting` (the command line, docs/proofs.md, its charts).
"""
