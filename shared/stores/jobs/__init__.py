"""Jobs, the packed cache of their tasks, and plans of long reads. Imports `tables`."""
