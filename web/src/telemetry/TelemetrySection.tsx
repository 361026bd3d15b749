// The telemetry section of a panel, which loads and fails independently of the others.

import type { ComponentChildren, RefObject } from "preact";
import type { Polled } from "../api/usePolled.ts";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";

interface TelemetrySectionProps<T> {
  sectionRef: RefObject<HTMLElement | null>;
  polled: Polled<T>;
  actions: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function TelemetrySection<T>({ sectionRef, polled, actions, children }: TelemetrySectionProps<T>) {
  const { value, failure, fresh, retry } = polled;
  return (
    <section ref={sectionRef} class="telemetry" aria-label="Telemetry" data-section="telemetry">
      <header>
        <h4>Telemetry</h4>
        {actions}
      </header>
      {failure && (
        <ErrorNotice
          failure={failure}
          retry={retry}
          name="telemetry"
          subject="Telemetry"
          hasOlderData={value !== null}
        />
      )}
      {value ? (
        <div class={failure ? "contents outdated" : fresh ? "contents" : "contents waiting"} aria-busy={!fresh}>
          {children(value)}
        </div>
      ) : (
        !failure && (
          <p class="loading" role="status">
            Loading…
          </p>
        )
      )}
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
