"""`prove exact`: counts reported as exact are exact under faults.

`driver` and `pool_changes` change resources, `chaos` plans faults, `pollers` poll, `cycles` compares by `judging` and
`beside`, `report` writes the results. Also offers `Driver` to other proofs.
"""
