"""One agent for a node or a task: sessions, signals, restarts."""
