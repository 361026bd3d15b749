"""Files of tasks and nodes, as Batch has them now: folders, and parts of files without their secrets."""
