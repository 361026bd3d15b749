// The history of a job: range, states, counts at the cursor, chart, and table.

import { useMemo, useState } from "preact/hooks";
import { TASK_STATES, type TaskState } from "../api/model.ts";
import { pathOfJob } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { HistoryChart } from "../charts/HistoryChart.tsx";
import { StateLegend } from "../charts/StateLegend.tsx";
import type { Series } from "../charts/stack.ts";
import { formatTime, timeZone } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { addressOfJobView, type JobView } from "../routing/jobView.ts";
import { Link } from "../routing/Link.tsx";
import { beginOf, RANGE_LABELS, RANGES, type Range } from "../time/ranges.ts";
import { Section } from "../ui/page/Section.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { Swatch } from "../ui/tiles/StateBar.tsx";
import { taskStateLabel } from "../ui/tiles/taskStates.ts";
import { HistoryTable } from "./HistoryTable.tsx";
import type { History, HistoryPoint } from "./model.ts";

const INTERVAL_MS = 15_000;

interface HistoryProps {
  view: JobView;
  /** Null until the job's age is known, which decides the default. */
  range: Range | null;
  created: number;
}

export function HistorySection({ view, range, created }: HistoryProps) {
  const { ref, inView } = useInView();
  const path = `${pathOfJob(view, "history")}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const polled = usePolled<History>({
    path,
    queryKey: range ?? "",
    intervalMs: INTERVAL_MS,
    enabled: inView && range !== null,
  });
  const actions = (
    <>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOfJobView({ ...view, range: each })} current={each === range}>
            {RANGE_LABELS[each]}
          </Link>
        ))}
      </nav>
      <a class="csv" href={`${path}&format=csv`} download={`${view.job}-history.csv`} aria-label="History as CSV">
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

function Contents({ history, created }: { history: History; created: number }) {
  const [hidden, setHidden] = useState<readonly TaskState[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const cursor = pointed !== null && pointed < history.value.length ? pointed : null;
  const states = TASK_STATES.filter((state) => !hidden.includes(state));
  const series = useMemo(() => seriesOf(history), [history]);
  const known = history.value.filter(({ taskCounts }) => taskCounts);
  if (!known.length) {
    const young = created > Date.parse(history.from) && " The job is younger than the range; choose a shorter one.";
    return <p class="nothing">No data in this range.{young}</p>;
  }
  const point = cursor === null ? known.at(-1) : history.value[cursor];
  const counts = point?.taskCounts;
  const entries = TASK_STATES.map((state) => ({
    state,
    label: taskStateLabel(state),
    swatch: <Swatch state={state} />,
    number: counts ? counts[state] : null,
    title: state === "active" ? "active in Azure Batch" : undefined,
  }));
  return (
    <>
      <StateLegend entries={entries} hidden={hidden} setHidden={setHidden}>
        {cursor === null && "Latest: "}
        {point && formatTime(Date.parse(point.time))}
        {!counts && ", not polled"}
        {counts && point?.exact !== true && ", not confirmed as exact"}
      </StateLegend>
      <HistoryChart
        history={series}
        states={states}
        created={created}
        cursor={cursor}
        point={setCursor}
        cursorText={pointText(point)}
      />
      <footer class="key">
        <span>
          <i class="swatch hatched" aria-hidden="true" /> not polled
        </span>
        <span>
          <i class="swatch doubtful" aria-hidden="true" /> not confirmed as exact
        </span>
        <span class="zone">Tasks by state · times in {timeZone()}</span>
      </footer>
      <HistoryTable history={history} />
    </>
  );
}

function seriesOf(history: History): Series<TaskState> {
  return { ...history, value: history.value.map(({ taskCounts, ...point }) => ({ ...point, counts: taskCounts })) };
}

function pointText(point: HistoryPoint | undefined): string {
  if (!point) return "";
  const time = formatTime(Date.parse(point.time));
  const counts = point.taskCounts;
  if (!counts) return `${time}: not polled`;
  return `${time}: ${TASK_STATES.map((state) => `${formatCount(counts[state])} ${taskStateLabel(state)}`).join(", ")}`;
}
