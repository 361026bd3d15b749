"""The stack that proofs run and compare: storage, emulator and hosts, their API, and the truth of the emulator.

Offers `running_rig` and single services, `Stack` (a client of a running stack), `compare`, and defects in logs. Imports
`local.dev` and `local.azurite`, no proof.
"""
