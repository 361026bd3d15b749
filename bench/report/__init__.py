"""The command line of benchmarks, rows with bars as JSON and Markdown, and charts."""
