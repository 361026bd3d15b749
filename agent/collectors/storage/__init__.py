"""File systems and disks of the node."""
