"""Records and their line protocol."""
