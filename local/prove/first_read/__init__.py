"""`prove first-read`: first reads of a large job survive kills. Requests and stored states of reads, their verdict."""
