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
NODE_EVENTS_SINCE = timedelta(hours=1)
"""How far back events that nodes reported are evidence."""
SLOT_TAKEN_WITHIN = timedelta(minutes=5)
"""How long after a requeue a start on the same node is taken for the task that got the slot."""
SPOT_NOTICE_HOLDS = timedelta(minutes=10)
"""Azure takes a spot node back within a minute of its notice; one that is still there later was kept."""
HARDWARE_XIDS = frozenset((48, 61, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120, 140))
"""Errors of the GPU itself; source: NVIDIA's list of Xid errors. Most others are those of programs."""
MAX_FORMULA_LINE = 300
"""Characters of a statement of an autoscale formula."""
START_UP_FINDING_DAYS = 7
"""Days of allocation, today included, on which findings on start-ups rest."""
MIN_START_UPS = 5
"""Nodes of a day from which on its start-ups are compared with those of other days."""
MIN_START_UP_DAYS = 3
"""Earlier days with so many nodes."""
START_UP_GROWTH = 1.5
MIN_START_UP_GROWTH = timedelta(minutes=1)
MIN_RUN_TASKS = 20
"""Tasks from which on their median run is compared with start-ups."""
RETIREMENT_LEAD_DAYS = (180, 60, 14)
"""Days before something is retired from which on pools that use it are named, each time more urgently."""
