"""`prove soak`: hosts keep their size. Feeds blobs, queries the API, measures memory and tables, and judges both."""
