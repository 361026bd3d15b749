"""`prove fleet`: many accounts and hosts stay fresh. Their jobs, hosts and faults, and the freshness of the API.

Offers the failing fronts, `Fleet` and `Freshness` to `prove accounts`.
"""
