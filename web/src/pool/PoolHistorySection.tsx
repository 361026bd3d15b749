// The history of a pool: its nodes by kind of state, how many there were to be, and interruptions of spot nodes.

import { useMemo, useState } from "preact/hooks";
import { HistoryChart } from "../job/HistoryChart";
import { SPOKEN } from "../job/HistorySection";
import { moment, parseDuration, zone, type Scale } from "../job/scales";
import { Section } from "../job/Section";
import { place, type Series } from "../job/stack";
import { StateChoice } from "../job/StateChoice";
import { beginOf, RANGES, type Range } from "../job/view";
import { useSeen, useWatched } from "../job/watching";
import { Link } from "../Link";
import { count, plural, rate } from "../words";
import { byKind, KIND_WORDS, NODE_KINDS, type NodeKind } from "./kinds";
import type { PoolHistory, PoolPoint } from "./model";
import { KindSwatch, NodePatterns } from "./NodeBar";
import { PoolHistoryTable } from "./PoolHistoryTable";
import { addressOfPool, pathOfPool, type PoolView } from "./view";

const EVERY_MS = 15_000;

interface HistoryProps {
  view: PoolView;
  /** Null until the pool tells which one shows most of it. */
  range: Range | null;
  created: number;
  /** Of a pool that is gone: shows what is kept of it, if anything is. */
  gone?: boolean;
}

export function PoolHistorySection({ view, range, created, gone = false }: HistoryProps) {
  const { ref, seen } = useSeen();
  const path = `${pathOfPool(view, "history")}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const watched = useWatched<PoolHistory>({ path, subject: range ?? "", every: EVERY_MS, seen: seen && range !== null });
  if (gone && !watched.value) return <section ref={ref} />;
  const actions = (
    <>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOfPool({ ...view, range: each })} current={each === range}>
            {SPOKEN[each]}
          </Link>
        ))}
      </nav>
      <a class="csv" href={`${path}&format=csv`} download={`${view.pool}-history.csv`} aria-label="History as CSV">
        CSV
      </a>
    </>
  );
  return (
    <Section title="History" name="history" part={ref} watched={watched} actions={actions}>
      {(history) => <Contents history={history} created={created} />}
    </Section>
  );
}

function Contents({ history, created }: { history: PoolHistory; created: number }) {
  const [hidden, setHidden] = useState<readonly NodeKind[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const series = useMemo(() => seriesOf(history), [history]);
  const cursor = pointed !== null && pointed < history.value.length ? pointed : null;
  const known = history.value.filter(({ nodeCounts }) => nodeCounts);
  if (!known.length) {
    const young = created > Date.parse(history.from) && " A shorter range shows more of so young a pool.";
    return <p class="nothing">Nothing is known at the end of any step of this range.{young}</p>;
  }
  const point = cursor === null ? known.at(-1) : history.value[cursor];
  const kinds = kindsIn(series);
  const counts = point?.nodeCounts && byKind(point.nodeCounts);
  const choices = kinds.map((kind) => ({
    state: kind,
    words: KIND_WORDS[kind],
    swatch: <KindSwatch kind={kind} />,
    number: counts ? counts[kind] : null,
  }));
  return (
    <>
      <StateChoice choices={choices} hidden={hidden} hide={setHidden}>
        {cursor === null && "Last: "}
        {point && restInWords(point)}
      </StateChoice>
      <HistoryChart
        history={series}
        states={kinds.filter((kind) => !hidden.includes(kind))}
        kind="node-"
        created={created}
        cursor={cursor}
        point={setCursor}
        spoken={inWords(point)}
        overlay={(x, y) => <Above history={history} created={created} x={x} y={y} />}
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
        <span class="zone">Nodes by state · times in {zone()}</span>
      </footer>
      <PoolHistoryTable history={history} />
    </>
  );
}

function seriesOf(history: PoolHistory): Series<NodeKind> {
  const value = history.value.map(({ time, exact, nodeCounts }) => ({
    time,
    exact,
    counts: nodeCounts && byKind(nodeCounts),
  }));
  return { ...history, value };
}

/** The kinds that any point has, in their order. */
function kindsIn({ value }: Series<NodeKind>): NodeKind[] {
  const found = NODE_KINDS.filter((kind) => value.some(({ counts }) => counts?.[kind]));
  return found.length ? found : ["idle"];
}

export function targetOf({ target }: PoolPoint): number | null {
  if (!target || (target.dedicated === null && target.spot === null)) return null;
  return (target.dedicated ?? 0) + (target.spot ?? 0);
}

/** The target as a line that breaks where it isn't known, or the pool wasn't there, and a mark below each step with interruptions. */
function Above({ history, created, x, y }: { history: PoolHistory; created: number; x: Scale; y: Scale }) {
  const step = parseDuration(history.step);
  let open = false;
  const line = history.value
    .map((point) => {
      const at = Date.parse(point.time);
      const target = at < created ? null : targetOf(point);
      const begin = open || target === null ? "" : `M${place(x(Math.max(at - step, created)), y(target))}`;
      open = target !== null;
      return target === null ? "" : `${begin}L${place(x(at), y(target))}`;
    })
    .join("");
  return (
    <g>
      <defs>
        <NodePatterns />
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

/** When it was, and what the states don't tell. */
function restInWords(point: PoolPoint): string {
  const time = moment(Date.parse(point.time));
  if (!point.nodeCounts) return `${time}, not polled`;
  const { slots, cores, preempted, resizeErrors, exact } = point;
  const target = targetOf(point);
  const parts = [
    time,
    target !== null && `target ${count(target)}`,
    slots && `${count(slots.used)} of ${count(slots.total)} slots`,
    cores && `${rate(cores.busy)} of ${count(cores.total)} cores`,
    preempted && plural(preempted, "interruption"),
    resizeErrors && plural(resizeErrors, "resize error"),
    exact !== true && "not confirmed as exact",
  ];
  return parts.filter(Boolean).join(" · ");
}

function inWords(point: PoolPoint | undefined): string {
  if (!point) return "";
  if (!point.nodeCounts) return restInWords(point);
  const counts = byKind(point.nodeCounts);
  const states = NODE_KINDS.filter((kind) => counts[kind]).map((kind) => `${count(counts[kind])} ${KIND_WORDS[kind]}`);
  return `${restInWords(point)}: ${states.join(", ") || "no nodes"}`;
}
