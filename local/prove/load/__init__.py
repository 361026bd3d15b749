"""Jobs with very many tasks for any proof, written through the official client. Imports `local.workload`."""
