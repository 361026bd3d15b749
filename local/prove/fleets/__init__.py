"""Many accounts and hosts: their jobs, their faults, and how fresh the API is meanwhile."""
