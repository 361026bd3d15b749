"""Programs, files and locks: runs tools, ends them with their parent, writes to the terminal. Imports nothing else."""
