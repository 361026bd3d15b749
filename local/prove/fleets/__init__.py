"""Many accounts and hosts: their jobs, their faults, and the freshness of the API."""
