"""Rules that find and price wasted time of nodes: one evidence about some days of usage, a rule a file."""
