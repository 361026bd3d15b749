"""Rules about whole accounts."""
