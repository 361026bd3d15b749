"""The services beside the measured programs: storage, and the Batch emulator.

The emulator has a second port for adding very many tasks and nodes in one step. `services` starts all of them and runs
the programs of `measured`. Imports `local`, nothing of the app.
"""
