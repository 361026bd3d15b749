// The page of a pool: summary, nodes, queue, history, start-up, events, setup, node agent.

import { useContext, useMemo } from "preact/hooks";
import { pathOfPool } from "../api/paths.ts";
import { POLL_MS } from "../api/poller.ts";
import { usePolled } from "../api/usePolled.ts";
import { LatestEvents } from "../events/LatestEvents.tsx";
import { Navigation } from "../routing/Link.tsx";
import { addressOfPoolView, readPoolView } from "../routing/poolView.ts";
import { type Range, rangeFor } from "../time/ranges.ts";
import { Breadcrumb, useDetailPage } from "../ui/page/Breadcrumb.tsx";
import { DetailBody, NotFound } from "../ui/page/DetailPage.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { AgentSection } from "./agent/AgentSection.tsx";
import type { Pool } from "./model.ts";
import { failingNodesOf, findingsOn } from "./nodelist/failing.ts";
import { NodeSections } from "./nodelist/NodeSection.tsx";
import { NodePanel } from "./nodepanel/NodePanel.tsx";
import { PoolHistorySection } from "./PoolHistorySection.tsx";
import { PoolSetup } from "./PoolSetup.tsx";
import { PoolSummary } from "./PoolSummary.tsx";
import { QueueSection } from "./queue/QueueSection.tsx";
import { marksOf } from "./settingChanges.ts";
import { StartUpSection } from "./startup/StartUpSection.tsx";
import { PoolTelemetrySection } from "./telemetry/PoolTelemetrySection.tsx";

interface PoolPageProps {
  account: string;
  id: string;
  /** The address at which the list was left. */
  back: string;
}

export function PoolPage({ account, id, back }: PoolPageProps) {
  const view = readPoolView(account, id);
  const polled = usePolled<Pool>({ path: pathOfPool(view), intervalMs: POLL_MS });
  const navigate = useContext(Navigation);
  useDetailPage(id, back);
  const { value: pool, failure } = polled;
  const failing = useMemo(() => failingNodesOf(pool?.findings), [pool?.findings]);
  const gone = failure?.status === 404 && !pool;
  const created = pool ? Date.parse(pool.creationTime) : -Infinity;
  const range = view.range ?? (pool || failure ? rangeFor(pool) : null);
  const open = (node: string) => navigate(addressOfPoolView({ ...view, node }));
  const close = () => navigate(addressOfPoolView({ ...view, node: "", charts: "" }), "back");
  const history = {
    path: pathOfPool(view, "history"),
    id,
    created,
    addressOf: (each: Range) => addressOfPoolView({ ...view, range: each }),
    changes: pool?.settingChanges ?? [],
  };
  return (
    <Shell tab="pools" account={account} back={back} result={polled} showsErrors retry={polled.retry}>
      <Breadcrumb tab="pools" account={account} id={id} name="pool" />
      {gone ? (
        <>
          <NotFound name="pool" back={back} failure={failure} />
          <PoolHistorySection key="gone" {...history} range={view.range ?? "90d"} gone />
        </>
      ) : (
        <>
          <DetailBody polled={polled} name="pool">
            {(read) => <PoolSummary pool={read} />}
          </DetailBody>
          <NodeSections
            view={view}
            counts={pool?.nodeCounts ?? null}
            flapping={pool?.flappingNodes ?? null}
            failing={failing}
            open={open}
          />
          <QueueSection view={view} />
          <PoolHistorySection {...history} range={range} />
          <StartUpSection view={view} />
          <PoolTelemetrySection view={view} range={range} changes={marksOf(pool?.settingChanges ?? [])} />
          <LatestEvents account={account} subject={{ pool: id }} />
          {pool && <PoolSetup pool={pool} />}
          {pool && <AgentSection view={view} commandLine={pool.startTask?.commandLine ?? ""} openNode={open} />}
        </>
      )}
      {view.node && <NodePanel key={view.node} view={view} findings={findingsOn(failing, view.node)} close={close} />}
    </Shell>
  );
}
