"""Thresholds of all rules: from which value on they conclude something, and how much they show."""

from datetime import timedelta

MAX_ESTIMATED_WAIT = timedelta(days=365)
"""Longer estimates than this aren't shown."""
MAX_SHOWN_JOBS = 5
MAX_SHOWN_CYCLE = 8
"""Tasks of a cycle of dependencies."""
MAX_EXAMPLES = 3
"""Nodes, and causes or failures by their frequency."""
MIN_START_GAP = timedelta(minutes=15)
"""Nodes of one resize start within minutes; earlier ones may have had another start task."""
MAX_FORMULA_LINE = 300
"""Characters of a statement of an autoscale formula."""
