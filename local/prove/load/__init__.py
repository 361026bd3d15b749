"""Jobs with very many tasks, written through the official client."""
