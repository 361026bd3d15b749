// Charts of a node's telemetry in its panel, over a range that the address keeps.

import { useEffect, useState } from "preact/hooks";
import type { Page } from "../api/model.ts";
import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { pathOfEvents } from "../events/filters.ts";
import { formatTime } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import type { Node } from "../nodes/model.ts";
import { addressOfPoolView, type PoolView } from "../routing/poolView.ts";
import { beginOf, RANGE_LABELS, type Range } from "../time/ranges.ts";
import { RangeLinks } from "../ui/page/RangeLinks.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { CoreMap } from "./CoreMap.tsx";
import { chartRangeOf, csvOfNode, INTERVALS_MS, pathOfNode } from "./paths.ts";
import { RunStrip } from "./RunStrip.tsx";
import { chartsOf, seriesSetOf } from "./series/charts.ts";
import { droppedText } from "./series/dropped.ts";
import type { Telemetry } from "./series/model.ts";
import { activityOf, type LoggedEvent } from "./series/runs.ts";
import { valueText } from "./series/units.ts";
import { TelemetryContents } from "./TelemetryContents.tsx";
import { CsvLink, TelemetrySection } from "./TelemetrySection.tsx";
import { useStep } from "./useStep.ts";

const EVENTS_INTERVAL_MS = 30_000;
const MAX_EVENTS = 1000;

interface NodeTelemetryProps {
  view: PoolView;
  /** Null for a deleted node, whose telemetry is still stored. */
  node: Node | null;
}

export function NodeTelemetry({ view, node }: NodeTelemetryProps) {
  const { ref, inView } = useInView();
  const range = chartRangeOf(view.charts);
  const [latest, setLatest] = useState<Telemetry | null>(null);
  const step = useStep(range, latest);
  const path = pathOfNode(view, range, step);
  const polled = usePolled<Telemetry>({
    path,
    queryKey: range + step,
    intervalMs: INTERVALS_MS[range],
    enabled: inView,
  });
  const current = polled.fresh ? polled.value : null;
  useEffect(() => setLatest(current), [current]);
  const actions = (
    <>
      <RangeLinks
        label="Chart range"
        current={range}
        addressOf={(charts) => addressOfPoolView({ ...view, charts })}
        mode="replace"
      />
      <CsvLink href={csvOfNode(view, range)} id={view.node} />
    </>
  );
  return (
    <TelemetrySection sectionRef={ref} polled={polled} actions={actions}>
      {(telemetry) => <Contents view={view} node={node} range={range} step={step} telemetry={telemetry} />}
    </TelemetrySection>
  );
}

interface ContentsProps extends NodeTelemetryProps {
  range: Range;
  step: string;
  telemetry: Telemetry;
}

function Contents({ view, node, range, step, telemetry }: ContentsProps) {
  const { account, pool, node: id } = view;
  const path = pathOfEvents({ account, pool, node: id, from: beginOf(range) }, { rows: MAX_EVENTS });
  const { value: log } = usePolled<Page<LoggedEvent>>({ path, queryKey: range, intervalMs: EVENTS_INTERVAL_MS });
  if (!chartsOf(seriesSetOf(telemetry)).length)
    return <NoTelemetry account={account} range={range} telemetry={telemetry} />;
  const activity = activityOf(log?.value ?? []);
  const oldest = log?.nextLink ? log.value.at(-1) : undefined;
  const knownSince = node?.allocationTime ? Date.parse(node.allocationTime) : Infinity;
  const cores = {
    path: pathOfNode(view, range, step, "cores"),
    queryKey: range + step,
    intervalMs: INTERVALS_MS[range],
  };
  return (
    <>
      <TelemetryContents
        telemetry={telemetry}
        knownSince={knownSince}
        beside={(chart, layout) => chart === "cpu" && <CoreMap {...cores} {...layout} />}
        below={(layout) => <RunStrip account={account} states={node?.history ?? []} activity={activity} {...layout} />}
      />
      {oldest && <p class="soft">Tasks before {formatTime(Date.parse(oldest.time))} aren't shown; the chart loads at most {formatCount(MAX_EVENTS)} events.</p>}
    </>
  );
}

interface NoTelemetryProps {
  account: string;
  range: Range;
  telemetry: Telemetry;
}

interface TelemetryIngestion {
  container: string | null;
  telemetry: { blobs: number; behindBytes: number } | null;
}

/** Says that the node sent no data only if no data is known. */
function headline({ value, undrawn = [], leftOut }: Telemetry, range: string): string {
  if (undrawn.some(({ namesNode }) => namesNode))
    return `The data that the node sent in the last ${range} can't be charted:`;
  if (undrawn.length)
    return `No data of the last ${range} names this node. It may be in these blobs, which name no node:`;
  if (value.length || leftOut.records || leftOut.refused) return "The node sent no data that these charts show.";
  return `The node sent no data in the last ${range}.`;
}

/** Explains why there are no charts, and what to do. */
function NoTelemetry({ account, range, telemetry }: NoTelemetryProps) {
  const { value } = usePolled<TelemetryIngestion>({
    path: pathOfAccount(account, "ingestion"),
    intervalMs: EVENTS_INTERVAL_MS,
  });
  const dropped = droppedText(telemetry.leftOut);
  const undrawn = telemetry.undrawn ?? [];
  return (
    <div class="nothing" data-testid="no-telemetry">
      <p>{headline(telemetry, RANGE_LABELS[range])}</p>
      {undrawn.length > 0 && (
        <ul data-testid="undrawn">
          {undrawn.map(({ blob, reason }) => (
            <li key={blob}>
              <code>
                <ExternalText text={blob} />
              </code>
              : <ExternalText text={reason} />
            </li>
          ))}
        </ul>
      )}
      {value && !value.container && (
        <p>
          Telemetry ingestion is off. Set <code>TELEMETRY_STORAGE</code> to the storage account that the nodes write to.
        </p>
      )}
      {value?.container && !value.telemetry?.blobs && (
        <p>
          No node of this account has sent telemetry so far. Configure an agent on the nodes, such as Telegraf, to append
          its metrics to blobs in the container <code>telemetry</code>; see “Telemetry of nodes” in docs/operations.md.
        </p>
      )}
      {(value?.telemetry?.behindBytes ?? 0) > 0 && (
        <p>{valueText(value?.telemetry?.behindBytes ?? 0, "bytes")} of node telemetry are waiting to be read.</p>
      )}
      {dropped && <p>{visible(dropped)}</p>}
    </div>
  );
}
