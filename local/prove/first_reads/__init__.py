"""What a first read asked of Batch and stored, and the verdict on both."""
