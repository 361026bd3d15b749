// The part of a panel that shows what was measured: loading, failing and growing old apart from the rest.

import type { ComponentChildren, RefObject } from "preact";
import type { Polled } from "../api/usePolled.ts";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";

interface FrameProps<T> {
  part: RefObject<HTMLElement | null>;
  polled: Polled<T>;
  actions: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function Frame<T>({ part, polled, actions, children }: FrameProps<T>) {
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

/** All series as a table, and as whose file. */
export function Csv({ href, of }: { href: string; of: string }) {
  return (
    <a class="csv" href={href} download={`${of}-telemetry.csv`} aria-label="Telemetry as CSV">
      CSV
    </a>
  );
}
