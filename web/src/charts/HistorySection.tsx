// A section with a history: its ranges, and its numbers as CSV. What it shows is its children's.

import type { ComponentChildren } from "preact";
import { usePolled } from "../api/usePolled.ts";
import { Link } from "../routing/Link.tsx";
import { beginOf, RANGE_LABELS, RANGES, type Range } from "../time/ranges.ts";
import { Section } from "../ui/page/Section.tsx";
import { useInView } from "../ui/page/useInView.ts";

const INTERVAL_MS = 15_000;

interface HistorySectionProps<T> {
  /** The path of the history, without parameters. */
  path: string;
  /** The id of the history's subject, which names the file of numbers. */
  id: string;
  /** Null until the subject's age is known, which decides the default. */
  range: Range | null;
  addressOf: (range: Range) => string;
  /** Whether the subject is gone: then the section shows its stored history, if there is any. */
  gone?: boolean;
  children: (history: T) => ComponentChildren;
}

export function HistorySection<T>({ path, id, range, addressOf, gone = false, children }: HistorySectionProps<T>) {
  const { ref, inView } = useInView();
  const query = `${path}?from=${encodeURIComponent(beginOf(range ?? "24h"))}`;
  const polled = usePolled<T>({
    path: query,
    queryKey: range ?? "",
    intervalMs: INTERVAL_MS,
    enabled: inView && range !== null,
  });
  if (gone && !polled.value) return <section ref={ref} />;
  const actions = (
    <>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((each) => (
          <Link key={each} to={addressOf(each)} current={each === range}>
            {RANGE_LABELS[each]}
          </Link>
        ))}
      </nav>
      <a class="csv" href={`${query}&format=csv`} download={`${id}-history.csv`} aria-label="History as CSV">
        CSV
      </a>
    </>
  );
  return (
    <Section title="History" name="history" sectionRef={ref} polled={polled} actions={actions}>
      {children}
    </Section>
  );
}
