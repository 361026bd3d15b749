"""The spool on disk and the append blobs that it is sent to."""
