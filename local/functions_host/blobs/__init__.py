"""Blob triggers: by Event Grid events and by scanning containers, with receipts."""
