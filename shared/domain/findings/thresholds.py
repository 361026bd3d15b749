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
MAX_WASTE_DAYS, MIN_WASTE_DAYS = 7, 3
"""Full days (UTC) before today on which findings on waste rest, and those that the amount of a month needs."""
DAYS_OF_MONTH = 30
MIN_WASTED = 3_600_000
"""Milliseconds of nodes: less than an hour isn't named."""
MIN_IDLE_HOURS = 8
"""Hours in which a pool has idle nodes and runs nothing."""
MIN_FAILING_HOURS = 3
"""Hours in which nodes have a failed start task."""
MIN_IDLE_SLOTS = 0.3
"""The share of free slots in the time of nodes that run tasks."""
MIN_IDLE_BETWEEN_TASKS = 0.3
"""The share of idle nodes and free slots in the time of nodes, both without what other rules name."""
MIN_IDLE_WEEKENDS = 0.5
"""The share of idle nodes in the time of nodes on Saturdays and Sundays."""
SIZE_HEADROOM = 1.25
"""How many nodes a pool may have for each node that was busy."""
MAX_SPOT_INTERRUPTED = 0.1
"""The share without a result in what tasks held on spot nodes, up to which spot nodes are suggested."""
MAX_WASTE_JOBS, MAX_SAMPLED_POOLS = 5, 5
"""Jobs with failed tasks that are named, and pools whose history is read, the dearest first."""
QUOTA_SHARE, QUOTA_AHEAD = 0.9, timedelta(days=7)
"""The used share of a quota from which on it is named, and how long before it is reached."""
MIN_MEASURED_RUNS, MIN_MEASURED_OF_SMALL_JOBS = 20, 5
"""Measured runs from which on their efficiency is judged; the second where they are of all tasks of the job."""
MEMORY_HEADROOM, CORES_HEADROOM = 1.15, 1.1
"""What suffices for tasks, by the highest peak of memory, and by the cores that 95 % of them keep busy at most."""
NODE_MEMORY_FOR_TASKS = 0.92
"""The share of a node's memory that tasks may use; the rest is the system's."""
MAX_SLOTS, MAX_SLOTS_PER_CORE = 256, 4
"""Batch's limits of task slots per node."""
MIN_MORE_TASKS = 1.5
"""How many times as many tasks a node must have room for before more slots are suggested, and how many times as many
vCPUs as another size it must have before that one is."""
MEMORY_FAR_ABOVE, MEMORY_NEAR = 0.4, 0.9
"""Shares of the offered memory: where 95 % of the runs don't exceed the first, it is a waste; where they reach the
second, a risk."""
MAX_ONE_CORE, MAX_ONE_CORE_EVER = 1.1, 1.5
"""Busy cores of 95 % of the runs, and of all, up to which tasks count as single-threaded."""
MAX_IDLE_GPUS = 0.05
"""The used share of the offered GPUs up to which they count as idle."""
MAX_WAITING_CORES, MIN_DISK_RATE, MIN_NETWORK_RATE = 0.3, 50 << 20, 50 << 20
"""Busy cores up to which, and bytes a second of a run's disks or of a node's network from which on, the median run
counts as waiting for them."""
MIN_SATURATED, MIN_ABOVE_OFFER = 0.93, 1.25
"""Used shares of the offered cores from which on tasks share too few: where these are less than one, and where they
aren't."""
MIN_STOLEN = 0.05
"""The share of CPU time that a node's host took, or that containers waited for their limit, from which on it counts."""
MIN_LIMIT_RATIO, MIN_LIMIT_EXCESS, LIMIT_HEADROOM = 10, timedelta(hours=1), 2
"""A limit of so many times what the job took, and so much longer, is too long; and how much would have sufficed."""
MAX_START_UP_SHARE = 0.5
"""The share of start-ups in the time of start-ups and runs from which on they count as longer than the work."""
MIN_SPOT_LOST = 0.3
"""The share without a result in what a job's tasks held on spot nodes from which on these lose too much."""
NODE_FAILURE_LEVEL = 0.01
"""The chance, corrected for all nodes, up to which a node's failed tasks count as its own."""
MIN_FAILED_OF_NODE, MIN_FAILING_EXCESS_RATIO, MIN_OTHER_NODES = 4, 3.0, 2
"""Failed tasks of a node, how many times the expected ones they are, and other nodes of its pool, from which on so."""
MAX_FAILING_NODES = 10
"""Such nodes that are named."""
FAILING_NODES_HOLD = timedelta(minutes=30)
"""How long such nodes are named after more tasks failed, if they weren't determined anew."""
FAILING_NODES_SINCE = timedelta(days=1)
"""How long after its end the nodes on which a job's tasks failed are named at their pool."""
EVENT_IS_NEWS = timedelta(hours=1)
"""How old an event may be when it is first seen; older ones aren't mentioned."""
UNPOLLED_LOOK = timedelta(minutes=15)
"""How long after the last poll of an account it is looked at whether there was another one."""
STUCK_AFTER = timedelta(minutes=15)
"""How long none of a job's tasks has moved while some wait and none runs."""
MIN_ENDED_OF_FAILING_JOB, MIN_FAILED_SHARE = 10, 0.1
"""Ended tasks from which on the failed share of a job is judged, and that share."""
FAILING_RATIO, MAX_EARLIER_RUNS = 2.0, 10
"""How many times the median share of earlier runs of its schedule a job's failed share is, and how many count."""
MAX_INTERRUPTED_SHARE, INTERRUPTED_WITHIN = 0.25, timedelta(hours=1)
"""Interruptions of spot nodes for each of a pool's spot nodes, and within which time."""
MIN_UNUSABLE_SHARE = 0.05
"""The share of a pool's nodes that can't be used."""
RUN_IS_LATE = timedelta(minutes=5)
"""How long after its time a run of a job schedule has made no job."""
