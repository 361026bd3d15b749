// The history of a pool: nodes by group of states, target nodes, and interruptions of spot nodes.

import { useMemo, useState } from "preact/hooks";
import { pathOfPool } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { HistoryChart } from "../charts/HistoryChart.tsx";
import { StateLegend } from "../charts/StateLegend.tsx";
import type { Scale } from "../charts/scales.ts";
import { pathPoint } from "../charts/stack.ts";
import { timeZone } from "../format/dates.ts";
import { parseDuration } from "../format/durations.ts";
import { GroupSwatch, NodeFillPatterns } from "../nodes/NodeBar.tsx";
import { countsByGroup, GROUP_LABELS, type StateGroup } from "../nodes/stateGroups.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../routing/poolView.ts";
import { beginOf, RANGE_LABELS, RANGES, type Range } from "../time/ranges.ts";
import { Section } from "../ui/page/Section.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { groupsIn, pointDetails, pointText, seriesOf, targetOf } from "./history.ts";
import type { PoolHistory } from "./model.ts";
import { PoolHistoryTable } from "./PoolHistoryTable.tsx";

const INTERVAL_MS = 15_000;

interface HistoryProps {
  view: PoolView;
  /** Null until the pool's age is known, which decides the default. */
  range: Range | null;
  created: number;
  /** Whether the pool is gone: then the section shows its stored history, if there is any. */
  gone?: boolean;
}

export function PoolHistorySection({ view, range, created, gone = false }: HistoryProps) {
  const { ref, inView } = useInView();
  const path = `${pathOfPool(view, "history")}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const polled = usePolled<PoolHistory>({
    path,
    queryKey: range ?? "",
    intervalMs: INTERVAL_MS,
    enabled: inView && range !== null,
  });
  if (gone && !polled.value) return <section ref={ref} />;
  const actions = (
    <>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOfPoolView({ ...view, range: each })} current={each === range}>
            {RANGE_LABELS[each]}
          </Link>
        ))}
      </nav>
      <a class="csv" href={`${path}&format=csv`} download={`${view.pool}-history.csv`} aria-label="History as CSV">
        CSV
      </a>
    </>
  );
  return (
    <Section title="History" name="history" sectionRef={ref} polled={polled} actions={actions}>
      {(history) => <Contents history={history} created={created} />}
    </Section>
  );
}

function Contents({ history, created }: { history: PoolHistory; created: number }) {
  const [hidden, setHidden] = useState<readonly StateGroup[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const series = useMemo(() => seriesOf(history), [history]);
  const cursor = pointed !== null && pointed < history.value.length ? pointed : null;
  const known = history.value.filter(({ nodeCounts }) => nodeCounts);
  if (!known.length) {
    const young = created > Date.parse(history.from) && " The pool is younger than the range; choose a shorter one.";
    return <p class="nothing">No data in this range.{young}</p>;
  }
  const point = cursor === null ? known.at(-1) : history.value[cursor];
  const groups = groupsIn(series);
  const counts = point?.nodeCounts && countsByGroup(point.nodeCounts);
  const entries = groups.map((group) => ({
    state: group,
    label: GROUP_LABELS[group],
    swatch: <GroupSwatch group={group} />,
    number: counts ? counts[group] : null,
  }));
  return (
    <>
      <StateLegend entries={entries} hidden={hidden} setHidden={setHidden}>
        {cursor === null && "Latest: "}
        {point && pointDetails(point)}
      </StateLegend>
      <HistoryChart
        history={series}
        states={groups.filter((group) => !hidden.includes(group))}
        layerPrefix="node-"
        created={created}
        cursor={cursor}
        point={setCursor}
        cursorText={pointText(point)}
        overlay={(x, y) => <TargetOverlay history={history} created={created} x={x} y={y} />}
        overlayHeight={Math.max(0, ...known.map((each) => targetOf(each) ?? 0))}
      />
      <footer class="key">
        <span>
          <i class="swatch target-line" aria-hidden="true" /> target
        </span>
        {known.some(({ preempted }) => preempted) && (
          <span>
            <i class="swatch interrupted" aria-hidden="true" /> spot nodes interrupted
          </span>
        )}
        <span>
          <i class="swatch hatched" aria-hidden="true" /> not polled
        </span>
        <span>
          <i class="swatch doubtful" aria-hidden="true" /> not confirmed as exact
        </span>
        <span class="zone">Nodes by state · times in {timeZone()}</span>
      </footer>
      <PoolHistoryTable history={history} />
    </>
  );
}

/** The target as a line, with gaps if it is unknown or the pool didn't exist, and marks at steps with interruptions. */
function TargetOverlay({ history, created, x, y }: { history: PoolHistory; created: number; x: Scale; y: Scale }) {
  const step = parseDuration(history.step);
  let open = false;
  const line = history.value
    .map((point) => {
      const at = Date.parse(point.time);
      const target = at < created ? null : targetOf(point);
      const begin = open || target === null ? "" : `M${pathPoint(x(Math.max(at - step, created)), y(target))}`;
      open = target !== null;
      return target === null ? "" : `${begin}L${pathPoint(x(at), y(target))}`;
    })
    .join("");
  return (
    <g>
      <defs>
        <NodeFillPatterns />
      </defs>
      <path class="target-path" d={line} data-testid="target" />
      {history.value
        .filter(({ preempted }) => preempted)
        .map(({ time }) => (
          <path key={time} class="interruption" d={`M${x(Date.parse(time)) - 6},${y(0)}l6,-11l6,11z`} />
        ))}
    </g>
  );
}
