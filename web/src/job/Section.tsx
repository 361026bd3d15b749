// One part of the page in a frame of its own: loading, failing and growing old apart from all others.

import type { ComponentChildren, RefObject } from "preact";
import { Outside } from "../Outside";
import type { Watched } from "./watching";

interface SectionProps<T> {
  title: string;
  name: string;
  part: RefObject<HTMLElement | null>;
  watched: Watched<T>;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  /** Stays usable while nothing is read. */
  controls?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function Section<T>({ title, name, part, watched, note, actions, controls, children }: SectionProps<T>) {
  const { value, failure, fresh } = watched;
  const kind = failure ? "contents outdated" : fresh ? "contents" : "contents waiting";
  return (
    <section class="part-of-job card" ref={part} aria-labelledby={`title-${name}`} data-section={name}>
      <header>
        <h3 id={`title-${name}`}>{title}</h3>
        {note && <p class="note">{note}</p>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      {controls}
      {failure && <Trouble watched={watched} title={title} />}
      {value ? (
        <div class={kind} aria-busy={!fresh}>
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

function Trouble({ watched: { value, failure, retry }, title }: { watched: Watched<unknown>; title: string }) {
  return (
    <p class="problem" role="alert" data-testid="section-problem">
      <span>
        {failure?.message == null ? "The server doesn't answer." : <Outside text={failure.message} />}
        {value !== null && " What is shown is older."}
      </span>
      <button type="button" onClick={retry} aria-label={`Retry: ${title}`}>
        Retry
      </button>
    </p>
  );
}
