"""`prove gpu`: the agent measures GPUs rightly. Runs under Python 3.8 and later with the standard library alone.

Imports only the agent and `reporting.proofs_page`. `run` runs `observer` and `task` as programs and returns all raw
values, `judging` judges them, `report` writes the results.
"""
