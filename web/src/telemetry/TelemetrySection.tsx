// The telemetry section of a panel, which loads and fails independently of the others.

import type { ComponentChildren, Ref } from "preact";
import type { Polled } from "../api/usePolled.ts";
import { PolledContents } from "../ui/page/PolledContents.tsx";

interface TelemetrySectionProps<T> {
  sectionRef: Ref<HTMLElement>;
  polled: Polled<T>;
  actions: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function TelemetrySection<T>({ sectionRef, polled, actions, children }: TelemetrySectionProps<T>) {
  return (
    <section ref={sectionRef} class="telemetry" aria-label="Telemetry" data-section="telemetry">
      <header>
        <h4>Telemetry</h4>
        {actions}
      </header>
      <PolledContents polled={polled} name="telemetry" title="Telemetry">
        {children}
      </PolledContents>
    </section>
  );
}

/** A link to all series as CSV; `id` is of the node or the task, and names the file. */
export function CsvLink({ href, id }: { href: string; id: string }) {
  return (
    <a class="csv" href={href} download={`${id}-telemetry.csv`} aria-label="Telemetry as CSV">
      CSV
    </a>
  );
}
