"""Long proofs, too slow for `test`: `python3 dev.py prove NAME` runs `local/prove/NAME.py`."""
