// The history of a job: which range, which states, what was at a moment; the chart, and the same as a table.

import { useState } from "preact/hooks";
import { Link } from "../Link";
import { TASK_STATES, type TaskState } from "../model";
import { Swatch } from "../StateBar";
import { count } from "../words";
import { HistoryChart } from "./HistoryChart";
import { HistoryTable } from "./HistoryTable";
import type { History, HistoryPoint } from "./model";
import { moment, zone } from "./scales";
import { Section } from "./Section";
import { useSeen, useWatched } from "./watching";
import { addressOfView, beginOf, pathOf, RANGES, type JobView, type Range } from "./view";

const EVERY_MS = 15_000;
const SPOKEN: Record<Range, string> = { "1h": "1 h", "6h": "6 h", "24h": "24 h", "7d": "7 d", "90d": "90 d" };

interface HistoryProps {
  view: JobView;
  /** Null until the job tells which one shows most of it. */
  range: Range | null;
  created: number;
}

export function HistorySection({ view, range, created }: HistoryProps) {
  const { ref, seen } = useSeen();
  const path = `${pathOf(view, "history")}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const watched = useWatched<History>({ path, subject: range ?? "", every: EVERY_MS, seen: seen && range !== null });
  const actions = (
    <>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOfView({ ...view, range: each })} current={each === range}>
            {SPOKEN[each]}
          </Link>
        ))}
      </nav>
      <a class="csv" href={`${path}&format=csv`} download={`${view.job}-history.csv`} aria-label="History as CSV">
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

function Contents({ history, created }: { history: History; created: number }) {
  const [hidden, setHidden] = useState<readonly TaskState[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const cursor = pointed !== null && pointed < history.value.length ? pointed : null;
  const states = TASK_STATES.filter((state) => !hidden.includes(state));
  const known = history.value.filter(({ taskCounts }) => taskCounts);
  if (!known.length) {
    const young = created > Date.parse(history.from) && " A shorter range shows more of so young a job.";
    return <p class="nothing">Nothing is known at the end of any step of this range.{young}</p>;
  }
  const point = cursor === null ? known.at(-1) : history.value[cursor];
  const toggle = (state: TaskState) => {
    const next = hidden.includes(state) ? hidden.filter((each) => each !== state) : [...hidden, state];
    if (next.length < TASK_STATES.length) setHidden(next);
  };
  return (
    <>
      <Legend point={point} latest={cursor === null} states={states} toggle={toggle} />
      <HistoryChart
        history={history}
        states={states}
        created={created}
        cursor={cursor}
        point={setCursor}
        spoken={inWords(point)}
      />
      <footer class="key">
        <span>
          <i class="swatch hatched" aria-hidden="true" /> not polled
        </span>
        <span>
          <i class="swatch doubtful" aria-hidden="true" /> not confirmed as exact
        </span>
        <span class="zone">Tasks by state · times in {zone()}</span>
      </footer>
      <HistoryTable history={history} />
    </>
  );
}

interface LegendProps {
  point: HistoryPoint | undefined;
  latest: boolean;
  states: readonly TaskState[];
  toggle: (state: TaskState) => void;
}

/** What was at the cursor, or is now; each state can be left out so that small ones show. */
function Legend({ point, latest, states, toggle }: LegendProps) {
  const counts = point?.taskCounts;
  return (
    <div class="legend">
      <div class="choices capital" role="group" aria-label="States shown">
        {TASK_STATES.map((state) => (
          <button key={state} type="button" aria-pressed={states.includes(state)} onClick={() => toggle(state)}>
            <Swatch state={state} />
            {state} <b>{counts ? count(counts[state]) : "–"}</b>
          </button>
        ))}
      </div>
      <p class="when" data-testid="readout">
        {latest && "Last: "}
        {point && moment(Date.parse(point.time))}
        {!counts && ", not polled"}
        {counts && point?.exact !== true && ", not confirmed as exact"}
      </p>
    </div>
  );
}

function inWords(point: HistoryPoint | undefined): string {
  if (!point) return "";
  const time = moment(Date.parse(point.time));
  const counts = point.taskCounts;
  if (!counts) return `${time}: not polled`;
  return `${time}: ${TASK_STATES.map((state) => `${count(counts[state])} ${state}`).join(", ")}`;
}
