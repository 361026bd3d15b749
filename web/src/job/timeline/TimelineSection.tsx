// The section with the timeline of a job: its tasks' runs by node.

import { useCallback } from "preact/hooks";
import type { Job } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { timeZone } from "../../format/dates.ts";
import { plural } from "../../format/numbers.ts";
import type { JobView } from "../../routing/jobView.ts";
import { serverClock } from "../../time/clock.ts";
import { beginOf, type Range } from "../../time/ranges.ts";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import type { Timeline } from "./model.ts";
import { TimelineChart } from "./TimelineChart.tsx";

const INTERVAL_MS = 30_000;
/** For so many runs that the server takes seconds to read them; a completed job unpolled for as long is over. */
const SLOW_INTERVAL_MS = 5 * 60_000;
/** Tolerance for nodes' clocks, by which a run may seem to begin before its job. */
const SKEW_MS = 60_000;

interface TimelineProps {
  view: JobView;
  /** Null until the job's age is known. */
  range: Range | null;
  job: Job | null;
  created: number;
  open: (task: string) => void;
}

export function TimelineSection({ view, range, job, created, open }: TimelineProps) {
  const { ref, inView } = useInView();
  const begin = beginOf(range ?? "24h", created - SKEW_MS, SLOW_INTERVAL_MS);
  const path = `${pathOfJob(view, "timeline")}?from=${encodeURIComponent(begin)}`;
  const over = isOver(job);
  const intervalMs = useCallback(
    (value: Timeline | null) => (over ? Infinity : value?.aggregated ? SLOW_INTERVAL_MS : INTERVAL_MS),
    [over],
  );
  const polled = usePolled<Timeline>({ path, queryKey: range ?? "", intervalMs, enabled: inView && range !== null });
  const timeline = polled.value;
  const note = timeline && (
    <>
      {timeline.nodes.length > 0 && `${summaryText(timeline)}, `}as of <Age at={timeline.asOf} />
    </>
  );
  return (
    <Section title="Nodes" name="timeline" sectionRef={ref} polled={polled} note={note}>
      {(value) =>
        value.nodes.length ? (
          <>
            <TimelineChart timeline={value} open={open} />
            <TimelineLegend timeline={value} />
          </>
        ) : (
          <p class="nothing">No tasks ran in this range.</p>
        )
      }
    </Section>
  );
}

/** Whether no task will run any more: the job is deleted, or completed and no longer polled. */
function isOver(job: Job | null): boolean {
  if (!job || job.deleted) return job !== null;
  const checked = Date.parse(job.verdict.checkedAt ?? "");
  return job.state === "completed" && job.verdict.level !== "stale" && serverClock.now() - checked > SLOW_INTERVAL_MS;
}

function summaryText({ nodes, otherNodes, aggregated }: Timeline): string {
  const runs = nodes.reduce((sum, node) => sum + (node.runs?.length ?? 0), 0);
  const shown = plural(nodes.length, "node");
  const others = otherNodes ? ` (${plural(otherNodes, "more")} not shown)`.replace("mores", "more") : "";
  return aggregated ? `${shown}${others}, too many runs to draw individually` : `${plural(runs, "run")} on ${shown}${others}`;
}

function TimelineLegend({ timeline }: { timeline: Timeline }) {
  const entries = timeline.aggregated
    ? [
        ["busy", "busy slots"],
        ["failed", "share of failed tasks"],
      ]
    : [
        ["succeeded", "succeeded"],
        ["failed", "failed"],
        ["running", "running"],
      ];
  return (
    <footer class="key">
      {entries.map(([state, label]) => (
        <span key={state}>
          <i class="swatch" data-state={state === "busy" ? "running" : state} aria-hidden="true" /> {label}
        </span>
      ))}
      <span class="zone">Latest run of each task · times in {timeZone()}</span>
    </footer>
  );
}
