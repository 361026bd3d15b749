"""The parts of the proof that blobs are ingested exactly once: see `local.prove.ingest`."""
