"""Jobs, the packed cache of their tasks, plans of long reads, and history. Imports `tables`."""
