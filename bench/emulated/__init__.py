"""The Batch emulator with a second door: very many tasks and nodes put into it at once."""
