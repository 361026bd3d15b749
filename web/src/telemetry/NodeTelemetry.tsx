// What a node measured, as charts: in its panel, over a range that the address keeps.

import { useEffect, useState } from "preact/hooks";
import type { Page } from "../api/model.ts";
import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { pathOfEvents } from "../events/filters.ts";
import { moment } from "../format/dates.ts";
import { count } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import type { Node } from "../nodes/model.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../routing/poolView.ts";
import { beginOf, RANGE_WORDS, RANGES, type Range } from "../time/ranges.ts";
import { useInView } from "../ui/page/useInView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { CoreMap } from "./CoreMap.tsx";
import { Csv, Frame } from "./Frame.tsx";
import { Measured } from "./Measured.tsx";
import { csvOfNode, INTERVALS_MS, pathOfNode, spanOf } from "./paths.ts";
import { RunStrip } from "./RunStrip.tsx";
import { chartsOf, measuresOf } from "./series/charts.ts";
import { leftOutInWords } from "./series/leftOut.ts";
import type { Telemetry } from "./series/model.ts";
import { type LoggedEvent, pastOf } from "./series/runs.ts";
import { measured } from "./series/units.ts";
import { useStep } from "./useStep.ts";

const EVENTS_INTERVAL_MS = 30_000;
const MOST_EVENTS = 1000;

interface NodeTelemetryProps {
  view: PoolView;
  /** Null of one that is gone: what it measured is kept. */
  node: Node | null;
}

export function NodeTelemetry({ view, node }: NodeTelemetryProps) {
  const { ref, inView } = useInView();
  const span = spanOf(view.charts);
  const [told, tell] = useState<Telemetry | null>(null);
  const step = useStep(span, told);
  const path = pathOfNode(view, span, step);
  const polled = usePolled<Telemetry>({ path, queryKey: span + step, intervalMs: INTERVALS_MS[span], enabled: inView });
  const read = polled.fresh ? polled.value : null;
  useEffect(() => tell(read), [read]);
  const actions = (
    <>
      <nav class="ranges" aria-label="Chart range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOfPoolView({ ...view, charts: each })} current={each === span} mode="replace">
            {RANGE_WORDS[each]}
          </Link>
        ))}
      </nav>
      <Csv href={csvOfNode(view, span)} of={view.node} />
    </>
  );
  return (
    <Frame part={ref} polled={polled} actions={actions}>
      {(telemetry) => <Contents view={view} node={node} span={span} step={step} telemetry={telemetry} />}
    </Frame>
  );
}

interface ContentsProps extends NodeTelemetryProps {
  span: Range;
  step: string;
  telemetry: Telemetry;
}

function Contents({ view, node, span, step, telemetry }: ContentsProps) {
  const { account, pool, node: id } = view;
  const path = pathOfEvents({ account, pool, node: id, from: beginOf(span) }, { rows: MOST_EVENTS });
  const { value: log } = usePolled<Page<LoggedEvent>>({ path, queryKey: span, intervalMs: EVENTS_INTERVAL_MS });
  if (!chartsOf(measuresOf(telemetry)).length) return <Nothing account={account} span={span} telemetry={telemetry} />;
  const past = pastOf(log?.value ?? []);
  const oldest = log?.nextLink ? log.value.at(-1) : undefined;
  const begun = node?.allocationTime ? Date.parse(node.allocationTime) : Infinity;
  const cores = { path: pathOfNode(view, span, step, "cores"), queryKey: span + step, intervalMs: INTERVALS_MS[span] };
  return (
    <>
      <Measured
        telemetry={telemetry}
        begun={begun}
        beside={(chart, place) => chart === "cpu" && <CoreMap {...cores} {...place} />}
        below={(place) => <RunStrip account={account} states={node?.history ?? []} past={past} {...place} />}
      />
      {oldest && <p class="soft">Tasks before {moment(Date.parse(oldest.time))} aren't shown; the chart loads at most {count(MOST_EVENTS)} events.</p>}
    </>
  );
}

interface NothingProps {
  account: string;
  span: Range;
  telemetry: Telemetry;
}

interface Ingestion {
  container: string | null;
  telemetry: { blobs: number; behindBytes: number } | null;
}

/** It says that nothing came only where nothing is known to have come. */
function headline({ value, undrawn = [], leftOut }: Telemetry, span: string): string {
  if (undrawn.some(({ namesNode }) => namesNode)) return `The data that the node sent in the last ${span} can't be charted:`;
  if (undrawn.length) return `No data names this node in the last ${span}, but these blobs name no node:`;
  if (value.length || leftOut.records || leftOut.refused) return "The node sent no data that these charts show.";
  return `The node sent no data in the last ${span}.`;
}

/** Why there is nothing, and what to do. */
function Nothing({ account, span, telemetry }: NothingProps) {
  const { value } = usePolled<Ingestion>({ path: pathOfAccount(account, "ingestion"), intervalMs: EVENTS_INTERVAL_MS });
  const leftOut = leftOutInWords(telemetry.leftOut);
  const undrawn = telemetry.undrawn ?? [];
  return (
    <div class="nothing" data-testid="no-telemetry">
      <p>{headline(telemetry, RANGE_WORDS[span])}</p>
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
        <p>{measured(value?.telemetry?.behindBytes ?? 0, "bytes")} of node telemetry not read yet.</p>
      )}
      {leftOut && <p>{visible(leftOut)}</p>}
    </div>
  );
}
