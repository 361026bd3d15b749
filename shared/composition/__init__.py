"""The composition root: opens the stores and builds every service from them.

`opening` builds all services, `polling` those that poll Batch, `parts` opens what they need. It may import everything
in `shared/` but `runtime`, which imports it on first use, as loading it is slow.
"""
