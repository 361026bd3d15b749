"""Explanations why a job doesn't run: one `Evidence`, and rules, one file each, that derive findings from it.

`explanation` has the order in which the rules in `rules` are consulted, `pool_queue` that of the jobs on a pool, each
with its explanation. Imports the subjects that it explains.
"""
