"""Every kind of row that the stores write, with every possible column, in constant values."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from shared.domain.accounts.monitoring import Monitoring
from shared.domain.accounts.operations import PollOperation, Reason
from shared.domain.blobs.blobs import BlobRows, Checkpoint, Entry, PrefixChecksum, SeenBlob
from shared.domain.blobs.queued_shards import QueuedShard, UnreadBlob
from shared.domain.blobs.rejects import BadUnit
from shared.domain.blobs.sweeps import PartitionSweep, Totals
from shared.domain.blobs.uncharted_blobs import ArrivedBlob
from shared.domain.conditions.condition import Condition, ConditionKey, key_of_finding
from shared.domain.conditions.evaluation import AccountConditions
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.budgets import Budget
from shared.domain.cost.busy_nodes import RunSum
from shared.domain.cost.usage_days import JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.domain.efficiency.day_use import Advice, JobUse
from shared.domain.efficiency.used_shares import UsedShare, UsedShares
from shared.domain.events.batch_events import BatchEvent
from shared.domain.findings.finding import Amount, Finding, Scope
from shared.domain.history.grains import HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.jobs.deleted_job_counters import DeletedJobCounters, LeavingJob
from shared.domain.jobs.job_counters import JobCounters
from shared.domain.jobs.job_efficiency import JobEfficiency
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.job_samples import JobSample
from shared.domain.jobs.jobs import Job, JobFacts, Retired
from shared.domain.jobs.snapshots import Agreement, Confirmation, JobSnapshot, TaskRead
from shared.domain.jobs.waited_history import GRAINS, waited_samples
from shared.domain.jobs.waiting_causes import WaitingCause, WaitingCauses
from shared.domain.leaves.run_ends import RunEnds
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.nodes.node_records import EarlierState, NodeRecord
from shared.domain.nodes.nodes import Node, NodeError, NodeSummary, RecentTask, SizeSummary, StartRun
from shared.domain.nodes.start_ups import StartUp
from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import key_of_start, key_of_starts
from shared.domain.outputs.kept_outputs import KeptOutput, KeptTail, OutputMark
from shared.domain.outputs.output_limits import SpentOutputs
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.rounds import Mark, Round
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.machine_settings import MachineSettings, StartTaskSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pool_samples import PoolNumbers, PoolSample
from shared.domain.pools.pool_settings import AutoScale, Evaluation, Problem, StartTask
from shared.domain.pools.pools import NodesSnapshot, Pool, PoolConfirmation
from shared.domain.pools.resize_errors import ResizeError
from shared.domain.pools.resizes import Resize
from shared.domain.pools.setting_changes import SettingChange
from shared.domain.pools.start_up_days import StartUpDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_status import PriceSourceStatus
from shared.domain.quotas.account_quotas import StoredQuotas
from shared.domain.quotas.quota_limits import QuotaLimits
from shared.domain.quotas.quota_use import QuotaKey
from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.domain.retirements.supported_images import SupportedImage, SupportedImages
from shared.domain.schedules.job_specifications import JobSpecification
from shared.domain.schedules.schedules import Baseline, LastCount, Recurrence, Schedule, ScheduleFacts
from shared.domain.tasks.job_statistics import JobStatistics, StoredJobStatistics
from shared.domain.tasks.task_counters import TaskCounters
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.block_changes import changed, changes_of
from shared.domain.telemetry.pools.node_minutes import BlobTail
from shared.domain.telemetry.pools.node_totals import NodeMinute, Total
from shared.domain.telemetry.pools.packed_tails import packed_tails
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.chunks import HOURS, chunks_of
from shared.domain.telemetry.rollups.folding import CounterCache
from shared.domain.telemetry.rollups.intake_counts import REASONS, DroppedCounts, TelemetryTotals
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups, hours_of
from shared.domain.telemetry.rollups.summaries import CounterValue
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.event_records import event_of
from shared.domain.telemetry.sessions.node_facts import Disk, NodeFacts
from shared.domain.telemetry.sessions.session import Phase, Session
from shared.domain.telemetry.sessions.sessions import Sessions
from shared.domain.usage.usage_ledger import UsageKind, UsageLedger
from shared.services.reading.folding import fold
from shared.stores import events
from shared.stores.accounts.budgets import BudgetStore
from shared.stores.accounts.conditions import ConditionStore
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.operations import OperationStore
from shared.stores.accounts.quotas import QuotaStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.accounts.supported_images import SupportedImageStore
from shared.stores.blobs.checkpoints import BlobEntryStore, CheckpointStore
from shared.stores.blobs.queued_shards import QueuedShardStore
from shared.stores.blobs.rejects import RejectStore
from shared.stores.events import EventStore
from shared.stores.history import JOB_HISTORY, POOL_HISTORY, HistoryStore
from shared.stores.jobs.deleted_job_counters import DeletedJobCounterStore
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.jobs.jobs import JobStore, generation_partition
from shared.stores.jobs.leaf_rows import LeafReplacement
from shared.stores.jobs.outputs import OutputStore
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import Directory, TaskCache
from shared.stores.jobs.waiting_causes import WaitingCauseStore
from shared.stores.pools.nodes import NodeStore, StoredNodes, planned
from shared.stores.pools.pools import PoolStore
from shared.stores.pools.start_ups import StartUpStore
from shared.stores.prices.price_rows import PriceStore
from shared.stores.schedules import ScheduleStore
from shared.stores.tables.tables import Tables
from shared.stores.telemetry import telemetry
from shared.stores.telemetry.day_use import DayUseStore
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore
from shared.stores.telemetry.node_index import IndexPlace, NodeIndex
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore, Projected, ShardHead
from shared.stores.telemetry.telemetry import TelemetryStore, hour_rows
from shared.stores.telemetry.telemetry_totals import TelemetryTotalsStore
from shared.stores.usage_days import UsageDayStore
from tests.stores.schema.filled_values import filled

ACCOUNT = "demo.westeurope"
LARGE = "large"
"""A pool with more nodes than a row holds."""
T0 = datetime(2026, 11, 21, 7, 0, 0, 123_000, tzinfo=UTC)
_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)
_T1, _T2, _T3 = (T0 + number * _MINUTE for number in (1, 2, 3))
_MS, _NS = to_milliseconds(T0), to_milliseconds(T0) * 1_000_000
_COUNTS = TaskCounts(1, 2, 3, 9, 5, 4)
_EVER = HistoryRetention(timedelta(days=36_500), timedelta(days=36_500))

_INSIGHT = StoredJobStatistics.of(JobStatistics(retries=7), b"12345678")
SNAPSHOT = JobSnapshot(
    "g1", T0, "delta", _COUNTS, T0, _T1, _T2, Agreement(_T2, 1, TaskCounts(1, 0, 5, 9, 5, 4), T0), _INSIGHT,
    TaskRead(0.25, 3, 2), {"userCode": 3, "other": 1},
)  # fmt: skip
_JOB_COUNTERS = JobCounters(_MS, TaskCounters(1, 2, 3, 4), {"pool=20=c3=a4": TaskCounters(9, 8, 7, 6)})
_DELETED_COUNTERS = DeletedJobCounters(
    {"pool": TaskCounters(5, 4, 3, 2)}, {("left", _MS): LeavingJob(T0, {"pool": TaskCounters(1, 1, 1, 1)})},
    {"pool": T0},
)  # fmt: skip
_WAITING = WaitingCauses(
    T0, {"job": WaitingCause("slotsBusy", _T1), "new": WaitingCause()}, {"pool": {"slotsBusy": 7}}, {"pool": _MS}, _T1,
    {"pool": {"slotsBusy": 3}},
)  # fmt: skip
_SHARES = UsedShares(24, UsedShare(1, 4), UsedShare(2, 8), UsedShare(3, 12))
_USE = JobUse("Nightly:job-1", _SHARES, (Advice("oneBusyCore", "standard_d4s_v5", 0.75, "title", "advice"),))
_RULES = JobRules(7, timedelta(hours=3), uses_task_dependencies=True, allows_preemption=True)
JOB = Job(
    JobFacts(
        "Nightly:job-1", T0, "completed", _T1, "terminating", T0, _T1, "Pool Ä", -1000, "Shown", "AllTasksComplete",
        _RULES, (("team", "render"),),
    ),
    SNAPSHOT, "g2", T0, (Retired("g0", T0),), finalized=True, dirty=True, deleted_at=_T3,
    ended=(JobSample(_MS, _MS + 5, _MS + 2, _COUNTS, doubted=True),), counters=_JOB_COUNTERS,
    efficiency=JobEfficiency(24, _MS // 1000, 0.25, 0.125, 0.5),
    failing_nodes=FailingNodes(_MS, 5, (FailingNode(("Pool Ä", "tvm-1"), 9, 5, 0.25, 7, 1, 1e-6),), is_part=True),
    counted="g-",
)  # fmt: skip
_ROUND = Round(
    T0, T0, "reason", 9,
    {JOB.key: Confirmation("version", T0, Agreement(T0, 1, _COUNTS, T0), TaskRead(0.25, 3, 2))}, {JOB.key: "why"},
    T0, T0, T0, 7, 8, _T1, 4, {JOB.key: Mark(_T1, _T2)}, finished_at=_T1,
)  # fmt: skip


_POOL_FACTS = PoolFacts(
    "Pool Ä", T0, "active", T0, "standard_d4s_v5", "steady", T0, Size(2, 3), Size(1), 4,
    (Problem("AllocationFailed", "message"),), AutoScale("formula", "PT5M", T0, "results", Problem("code", "message")),
    StartTask("run", (("NAME", "value"),), waits_for_success=False, retries=1, settings=filled(StartTaskSettings)),
    "Shown", filled(MachineSettings), _T1, ("displayName",), {"startTask.environmentSettings.NAME": 7},
)  # fmt: skip
_USAGE = UsageLedger(
    _MS, _MS + 9, {498_679: {UsageKind("startTask", dedicated=False, vm_size="standard_d4s_v5"): 7}}, {"tvm-1": _MS + 8}
)
_TALLY = InterruptionCount(7, Interruptions(6, 3, 9, ((1, 3),)))
_SIZES = (SizeSummary("standard_d4s_v5", 2, 1, 3), SizeSummary("standard_e4s_v5", 1, 1, 0))
_SUMMARY = NodeSummary((("idle", True, 2), ("preempted", False, 1)), 12, 3, 5, 2, _SIZES, (("1.12.3", 3),))
_NUMBERS = PoolNumbers(_SUMMARY.counts, 12, 3, 5, 2, (2, 3), (1, None), (8, 1.5), 1, 6, 7)
_POOL_SAMPLE = PoolSample(_MS, _MS + 5, exact=True, numbers=_NUMBERS)
POOL = Pool(
    _POOL_FACTS, T0, (ResizeError("AllocationFailed", "message", T0, T0, _T1, 2, _T2, _T1),),
    NodesSnapshot(T0, T0, "fullRead", _SUMMARY, "digest", "doubt", _TALLY, ((_MS, 2),)), _POOL_SAMPLE, (_POOL_SAMPLE,),
    (Evaluation(T0, "results", Problem("code", "message")),),
    (SettingChange(T0, "vmSize", "standard_d2s_v5", "standard_d4s_v5"),), (Resize(_MS, _MS + 9),), 2,
)  # fmt: skip
_START_UP = StartUp(
    "node", _MS, "standard_d4s_v5", "publisher/offer/sku", "awaited", _MS - 1, _MS + 1, _MS + 2, _MS + 3, _MS + 4,
    _MS + 5, _MS + 6, worked=True, retried=True, ending="pollsMissed",
)  # fmt: skip
_RECORD = NodeRecord(7, (EarlierState("idle", 3),), (5, 4), Interruptions(2, 1, 9, ((1, 1),)))
NODE = Node(
    "TVM-1", "starttaskfailed", False, 1, 2, 3, "disabled", 4, 5, 6, 7, "standard_d4s_v5",
    StartRun("completed", "failure", 1, 2, 3, 4, "usererror", "code", "message"),
    (NodeError("code", "message"),), (RecentTask("job", "task", "running"),), 9, _RECORD, "1.12.3",
)  # fmt: skip


SCHEDULE = Schedule(
    ScheduleFacts(
        "Nightly", T0, T0, "active", T0, "disabled", T0, "Shown", Recurrence(T0, _T1, "PT1H", "PT5M"), _T1,
        "Nightly:job-1", _T2,
    ),
    T0, Baseline(T0, 1, next_was_due=True), LastCount(_T1, 2, T0), filled(JobSpecification), ("omitted",), "why", T0,
    _T3, T0,
)  # fmt: skip

BLOB = "resourceId=/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO/y=2026/PT1H.json"
ENTRY = Entry(BLOB, T0, _T1, 2, "etag", None, 700, _T2, _T3, "group")
EVENT = BatchEvent(T0, "TaskStartEvent", "job", "task", "pool", "node", {"jobId": "job"}, b"twelve bytes", _T1)
NODE_EVENT = event_of(
    Metric("batchscope_event", {"kind": "oom_kill"}, {"message": "Killed.", "pid": 5}, _NS),
    _NS,
    Identity("pool", "node", "job", "task", "7"),
)
_PLACE = Checkpoint(700, "anchor", 3, True, 9, 1, "etag", PrefixChecksum().extended(b"x" * 2000))
WHOSE = Identity("pool", "node", "job", "task", "1")
_FACTS = NodeFacts(
    "cpu",
    4,
    "standard_d4s_v5",
    "westeurope",
    "1",
    "spot",
    "offer",
    "sku",
    T0,
    T0,
    (Disk("sda", 700, "model"),),
    "0.2.0",
    T0,
)
ATTEMPT = MeasuredAttempt("Job", "Task", _MS // 1000, "standard_d4s_v5", 2500, 1750, 7, 11, 3, 1500, 9)
SESSION = Session(0, WHOSE, "host", _FACTS, Phase.RUNNING, (("linux_boot", _NS),), 1, has_facts=True)
STATE = State(
    Sessions({"node": SESSION}, 2, {0: _NS}),
    {0: CounterCache({"0123456789abcdef": CounterValue(_NS, 7)}, {"series"}, {"before"}, {"old"}, 7)},
    in_line=True,
)
_LEFT_OUT = DroppedCounts(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, {"measurement": 11})
_ROLLUPS: Rollups = {Series("system.memory.usage", (("system.memory.state", "used"),)): {
    _NS // 60_000_000_000: Rollup(2, 1.5, 3.5, 5.0, 3.5, _NS)
}}  # fmt: skip
PRICES = PriceHistory(
    "westeurope",
    "standard_d4s_v5",
    {MeterKey("linux", "dedicated"): (PriceInterval(Decimal("0.2"), T0, _T1, "meter"),)},
    {MeterKey("windows", "spot"): "severalMeters"},
    T0,
)
_KIND = NodeKind("standard_d4s_v5", True)
_UNITS = {_KIND: {"idle": 1, "succeeded": 1 << 40}}
_HELD = {JobUsageKey("pool", _KIND, "succeeded"): 1 << 40}
_ENDS = dict.fromkeys(_HELD, RunSum(2, 1 << 41))
USAGE = UsageDay(
    20_000,
    _MS,
    {"pool": PoolDay("Pool", 4, "westeurope", "windows", "hybridBenefit", _UNITS)},
    {"pool": {23: _UNITS}},
    {"job": JobDay("Job", _HELD, _HELD, _ENDS, _ENDS, _MS // 1000, has_earlier=True)},
    settled=3,
    is_final=True,
    pool_labels={"pool": {"team": "render"}},
    job_labels={"job": {"team": "film"}},
    tags={"env": "prod"},
    outcomes_as_of=(_MS, _MS, _MS + 600_000),
    runs_as_of=_MS + 700_000,
)
TASKS = [
    Task("Über", 3, 2, _MS, _MS, _MS, _MS, -1, ("UserError", "code"), 1, 2, 3, ("pool", "node")),
    Task("z", 0, transition=_MS),
]


_STUCK = Finding(
    *("jobStuck", Scope("node", "job", "pool"), "blocking", "title", "sentence", "advice"),
    evidence={"waitingTasks": 6, "movedAt": T0},
    since=T0,
    amount=Amount(6, "tasks"),
    link="link",
)
_CONDITIONS = AccountConditions(
    T0,
    {key: Condition(key, _STUCK, "firing", T0, T0, T0, unknown="why") for key in [key_of_finding(_STUCK)]},
    {ConditionKey("jobStarted", "job", "", "job", 1): T0},
    (Condition(key_of_finding(_STUCK), _STUCK, "resolved", T0, T0, T0, T0),),
    left_out={"jobStuck": 1},
    due=T0,
)


async def write_all(tables: Tables) -> None:
    """Writes rows of every kind."""
    await _write_jobs(tables)
    await _write_tasks(tables)
    await _write_outputs(tables)
    await _write_pools(tables)
    image = SupportedImage("publisher/offer/sku", "batch.node.ubuntu 22.04", T0.date())
    gone = SupportedImage("publisher/offer/old", "batch.node.ubuntu 20.04", T0.date(), T0.date())
    images = SupportedImages(T0, (image, gone), problem="problem")
    await SupportedImageStore(tables).save(ACCOUNT, images)
    await UsageDayStore(tables).save("demo", USAGE)
    limits = QuotaLimits(T0, "BatchService", 100, 50, 20, 300, {"standarddsv5family": 32}, True, {"env": "prod"})
    quotas = StoredQuotas(limits, T0, "reason", {20_000: {QuotaKey("familyCores", "standarddsv5family"): 16}})
    await QuotaStore(tables).save(ACCOUNT, quotas)
    await BudgetStore(tables).save(ACCOUNT, Budget("Render", "pool", "Pool", Decimal("12.5"), "USD", T0))
    await ConditionStore(tables).save(ACCOUNT, _CONDITIONS, None)
    await PriceStore(tables).save("USD", PRICES)
    await PriceStore(tables).save_status("USD", PriceSourceStatus(T0, T0, "problem"))
    await ScheduleStore(tables).save_all(ACCOUNT, [SCHEDULE])
    looked = ScheduleRound(T0, T0, "reason", 9, {"a": "version"}, {"b": "why"}, {"active": 1}, {"c": ("version", T0)})
    await ScheduleStore(tables).save_round(ACCOUNT, looked, None)
    await _write_blobs(tables)
    await _write_telemetry(tables)
    await MeasuredAttemptStore(tables).add(ACCOUNT, ENTRY.incarnation, [ATTEMPT], T0)
    await DayUseStore(tables).change(ACCOUNT, 20_000, {JOB.key: _USE})
    await _write_pool_telemetry(tables)


async def _write_jobs(tables: Tables) -> None:
    await JobStore(tables).save(ACCOUNT, JOB)
    await WaitingCauseStore(tables).save(ACCOUNT, _WAITING)
    await DeletedJobCounterStore(tables).change(ACCOUNT, lambda _: _DELETED_COUNTERS)
    await RoundStore(tables).save(ACCOUNT, _ROUND)
    await MonitoringStore(tables).save(ACCOUNT, Monitoring(False, 300, T0, _T1))
    rows: Mapping[str, Any] = rows_of(JOB.ended, None, _EVER)
    await HistoryStore(tables, JOB_HISTORY).save(ACCOUNT, {JOB.key: rows})
    reasons = (Reason("job", "why"), Reason(None, "why"))
    await OperationStore(tables).save(ACCOUNT, PollOperation("poll", "failed", T0, ("job",), _T1, 1, 2, reasons))


async def _write_tasks(tables: Tables) -> None:
    partition, cache = generation_partition(ACCOUNT, JOB.key, "g1"), TaskCache(tables)
    directory, _ = await fold(cache, Directory(partition), TASKS)
    leaf = await cache.load_leaf(partition, directory.leaves[0])
    leaf.run_ends = RunEnds({("z", 0): _MS})
    directory = await cache.save_leaves(directory, [LeafReplacement(directory.leaves[0], [leaf])])
    await cache.save_head(directory, T0)
    blockers = (BlockingTask("first", "failed", 2), BlockingTask("next", "waiting", 1))
    dependencies = Dependencies(
        9, whole=False, held=3, lost=2, unsure=1, blockers=blockers, circular=1, cycle=("a", "a")
    )
    await DependencyStore(tables).save(partition, StoredDependencies(T0, dependencies))
    await ReadPlanStore(tables).save(partition, ReadPlan("g1", T0, T0, T0, (IdRange("a", "b", "link", 1),), 1, 2, _T1))


async def _write_outputs(tables: Tables) -> None:
    store, run = OutputStore(tables), FailedRun(_MS, "task", "group", ("pool", "node"), "Task", 2, 3)
    await store.save_mark(ACCOUNT, JOB.key, OutputMark(T0, _MS, _MS), None)
    await store.note_expiry(ACCOUNT, JOB.key, 20778)
    tails, excerpt = (KeptTail(9, 4, b"words"), KeptTail(9, 4, b"words")), ErrorExcerpt("title", "words", ("words",))
    await store.save(ACCOUNT, JOB.key, KeptOutput(run, T0, 20778, tails, excerpt))
    gone = (KeptTail(reason="NodeNotFound"), KeptTail(reason="NodeNotFound"))
    await store.save(ACCOUNT, JOB.key, KeptOutput(run._replace(task="gone"), T0, 20778, gone))
    await store.save_spent(ACCOUNT, SpentOutputs(20778, _MS, 700, 3))
    pool, start = key_of_starts("pool"), run._replace(task=key_of_start("node", _MS), task_id="node")
    await store.note_expiry(ACCOUNT, pool, 20778)
    await store.save(ACCOUNT, pool, KeptOutput(start, T0, 20778, tails, excerpt))
    await store.save(ACCOUNT, pool, KeptOutput(start._replace(task=key_of_start("gone", _MS)), T0, 20778, gone))
    await store.save_mark(ACCOUNT, pool, OutputMark(after=_MS), None, 20778)


async def _write_pools(tables: Tables) -> None:
    pools, nodes = PoolStore(tables), NodeStore(tables)
    await pools.save_all(ACCOUNT, [POOL])
    confirmed = PoolConfirmation("version", T0, T0, "delta")
    await pools.save_round(ACCOUNT, PoolRound(T0, T0, "reason", 9, {POOL.key: confirmed}, {"a": "why"}), {})
    history = HistoryStore(tables, POOL_HISTORY)
    await history.save(ACCOUNT, {POOL.key: rows_of((_POOL_SAMPLE,), None, _EVER)})
    await history.save(ACCOUNT, {POOL.key: rows_of(waited_samples(_WAITING, "pool")[-1:], None, _EVER, GRAINS)})
    start_ups = StartUpDay(POOL.key, _MS // 86_400_000, {"node": _START_UP}, is_cut=True)
    await StartUpStore(tables).save_all(ACCOUNT, [start_ups])
    many = {node.key: node for node in (NODE._replace(id=f"n{number:03}") for number in range(251))}
    for key, some in ((POOL.key, {NODE.key: NODE}), (LARGE, many)):
        await nodes.save_all([planned(StoredNodes(ACCOUNT, key), some, _TALLY, _USAGE)])


async def _write_blobs(tables: Tables) -> None:
    entries, places = BlobEntryStore(tables), CheckpointStore(tables)
    await entries.save(ACCOUNT, ENTRY)
    unread = [UnreadBlob(SeenBlob("blob", T0, T0, 700, "etag"), ENTRY)]
    await QueuedShardStore(tables).save(ACCOUNT, QueuedShard(7, T0, unread, is_read=True, problems={"blob": "why"}))
    await entries.save_sweep(ACCOUNT, PartitionSweep(T0, 1, 2, 3, T0, ("problem",), 4, T0))
    await RejectStore(tables).save(ACCOUNT, ENTRY, [BadUnit(700, 5, "reason", b"sample")], T0)
    key, head = events.checkpoint_key(ACCOUNT, ENTRY.incarnation), await EventStore(tables).load_head(ACCOUNT)
    rows = events.chunk_rows(ACCOUNT, f"{ENTRY.incarnation}~{700:013x}", [EVENT])
    totals = events.head_row(ACCOUNT, head, Totals(1, 2, 3, 4, 5, T0))
    await places.advance(key, await places.load(key), _PLACE, [totals, *rows])
    await EventStore(tables).save_once(ACCOUNT, [NODE_EVENT])


async def _write_telemetry(tables: Tables) -> None:
    for blob in (BlobRows(ACCOUNT, ENTRY.incarnation), BlobRows(ACCOUNT, f"{ENTRY.incarnation}3", "group")):
        await _write_blob(tables, blob)
    dropped = dict.fromkeys(REASONS, 1)
    await TelemetryTotalsStore(tables).add(ACCOUNT, TelemetryTotals(T0, 1, 2, 3, 4, dropped, 5, T0), T0, "mark")


async def _write_blob(tables: Tables, blob: BlobRows) -> None:
    places, index = CheckpointStore(tables), NodeIndex(tables)
    key = telemetry.checkpoint_key(blob)
    state = telemetry.state_row(blob, telemetry.BlobState(), STATE.pack(), _LEFT_OUT)
    minutes = telemetry.chunk_rows(blob, 700, chunks_of(0, _ROLLUPS))
    await places.advance(key, await places.load(key), _PLACE, [state, telemetry.session_row(blob, SESSION), *minutes])
    packed = chunks_of(0, hours_of(_ROLLUPS), HOURS)
    await TelemetryStore(tables).replace(blob.partition, [], hour_rows(blob.partition, blob.owner, packed, None, 1))
    await index.save(blob, [IndexPlace("node", 0, 20778)])
    held = [one for one in await index.load(ACCOUNT, "node", 20778, 20778) if one.rows == blob]
    await index.note(ACCOUNT, held, rolled=True)
    await index.save_arrival("node", 20778, ArrivedBlob(blob, "blob", "format", "pool"))


async def _write_pool_telemetry(tables: Tables) -> None:
    minute = to_milliseconds(T0) // 60_000
    values = {
        minute: {
            ("pool", "node"): NodeMinute.of({one: Total(3.5, 2) for one in (Series("system.memory.limit"), *_ROLLUPS)})
        }
    }
    changes = {key: [change] for key, change in changes_of("0123abcd", values, ())}
    head = ShardHead({ENTRY.incarnation: Projected(700, minute)}, {"pool": {"node": minute}})
    tails = packed_tails({ENTRY.incarnation: BlobTail(700, minute, is_known=True, last=values)}, minute)
    await PoolTelemetryStore(tables).save(ACCOUNT, 7, head, changed({}, changes), tails)
