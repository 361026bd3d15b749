// The telemetry section of a panel, which loads and fails independently of the others.

import type { ComponentChildren, RefObject } from "preact";
import type { Polled } from "../api/usePolled.ts";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";

interface TelemetrySectionProps<T> {
  part: RefObject<HTMLElement | null>;
  polled: Polled<T>;
  actions: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function TelemetrySection<T>({ part, polled, actions, children }: TelemetrySectionProps<T>) {
  const { value, failure, fresh, retry } = polled;
  return (
    <section ref={part} class="telemetry" aria-label="Telemetry" data-section="telemetry">
      <header>
        <h4>Telemetry</h4>
        {actions}
      </header>
      {failure && <ErrorNotice failure={failure} retry={retry} name="telemetry" of="Telemetry" older={value !== null} />}
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

/** A link to all series as CSV; `of` names the file. */
export function CsvLink({ href, of }: { href: string; of: string }) {
  return (
    <a class="csv" href={href} download={`${of}-telemetry.csv`} aria-label="Telemetry as CSV">
      CSV
    </a>
  );
}
