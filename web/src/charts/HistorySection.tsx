// A section with the history of a job or a pool: its ranges, its numbers as CSV, and its panel.

import type { ComponentChildren } from "preact";
import { usePolled } from "../api/usePolled.ts";
import { beginOf, type Range } from "../time/ranges.ts";
import { RangeLinks } from "../ui/page/RangeLinks.tsx";
import { Section } from "../ui/page/Section.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { HistoryPanel } from "./HistoryPanel.tsx";
import type { History, HistoryKind, HistoryPoint } from "./history.ts";

const INTERVAL_MS = 15_000;

interface HistorySectionProps<Point extends HistoryPoint, State extends string> {
  kind: HistoryKind<Point, State>;
  /** The path of the history, without parameters. */
  path: string;
  /** The id of the history's subject, which names the file of numbers. */
  id: string;
  /** The creation of the subject, in milliseconds since 1970. */
  created: number;
  /** Null until the subject's age is known, which decides the default. */
  range: Range | null;
  addressOf: (range: Range) => string;
  /** Choices beside the ranges, such as the numbers shown. */
  choices?: ComponentChildren;
  /** Whether the subject is gone: then the section shows its stored history, if there is any. */
  gone?: boolean;
}

export function HistorySection<Point extends HistoryPoint, State extends string>({
  kind,
  path,
  id,
  created,
  range,
  addressOf,
  choices = null,
  gone = false,
}: HistorySectionProps<Point, State>) {
  const { ref, inView } = useInView();
  const query = `${path}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const polled = usePolled<History<Point>>({
    path: query,
    queryKey: range ?? "",
    intervalMs: INTERVAL_MS,
    enabled: inView && range !== null,
  });
  const { value, failure } = polled;
  if (gone && !value && (!failure || failure.status === 404)) return <section ref={ref} />;
  const actions = (
    <>
      {choices}
      <RangeLinks label="Range" current={range} addressOf={addressOf} />
      <a class="csv" href={`${query}&format=csv`} download={`${id}-history.csv`} aria-label="History as CSV">
        CSV
      </a>
    </>
  );
  return (
    <Section title="History" name="history" sectionRef={ref} polled={polled} actions={actions}>
      {(history) => <HistoryPanel key={kind.caption} kind={kind} history={history} created={created} />}
    </Section>
  );
}
