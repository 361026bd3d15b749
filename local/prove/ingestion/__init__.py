"""The parts of the proof that what is written to blobs comes in once: see `local.prove.ingest`."""
