"""The Batch emulator with a second port for adding very many tasks and nodes in one step."""
