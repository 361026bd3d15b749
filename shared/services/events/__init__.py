"""Resource logs of Batch as a kind of blobs, and answers about their events. Imports `blobs`."""
