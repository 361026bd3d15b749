"""Programs, files and locks: runs tools, ends them with their parent, speaks to the terminal. Imports nothing else."""
