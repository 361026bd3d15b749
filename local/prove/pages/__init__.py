"""docs/proofs.md and its charts."""
