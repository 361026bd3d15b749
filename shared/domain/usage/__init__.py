"""How long nodes of pools were in which state, in seconds by billing class and hour. Imports `core` and `nodes`."""
