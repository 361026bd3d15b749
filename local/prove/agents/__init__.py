"""Parts of the proof that node agents lose nothing."""
