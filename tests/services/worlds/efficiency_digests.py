"""The digests of efficiency over given stores."""

from datetime import timedelta

from shared.domain.prices.price_settings import PriceSettings
from shared.services.accounts.registry import Registry
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.cost.cost_queries import CostQueries
from shared.services.efficiency.efficiency_digests import EfficiencyDigests
from shared.services.efficiency.efficiency_queries import EfficiencyQueries
from shared.services.efficiency.job_contexts import JobContextReader
from shared.services.efficiency.node_figures import NodeFigureReader
from shared.services.efficiency.task_limits import TaskLimitReader
from shared.services.events.event_queries import EventQueries
from shared.services.jobs.job_records import JobRecords
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.queries import Queries
from shared.services.queries.retirement_queries import Announcements
from shared.services.queries.usage_queries import UsageQueries
from shared.services.tasks.leaf_reader import LeafReader
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.stores import Stores


def digests_of(
    registry: Registry, stores: Stores, ingestion: IngestionStores, records: JobRecords, prices: PriceSettings
) -> EfficiencyDigests:
    queries = Queries(registry, stores)
    leaves = LeafReader(queries, stores.cache)
    pools = PoolQueries(registry, stores, Announcements(registry, stores.images, ()))
    usage = UsageQueries(registry, pools, stores.nodes)
    found = PriceQueries(registry, stores, prices)
    costs = CostQueries(registry, queries, usage, stores.usage_days, found, leaves=leaves)
    events = EventQueries(registry, ingestion, container=None, retention=timedelta(days=90))
    nodes, limits = NodeFigureReader(pools, ingestion.pool_telemetry), TaskLimitReader({}, registry)
    contexts = JobContextReader(events, nodes, limits)
    efficiency = EfficiencyQueries(costs, TaskQueries(leaves), stores.pools, ingestion.attempts, contexts)
    return EfficiencyDigests(queries, efficiency, found, stores.jobs, records, ingestion.day_use)
