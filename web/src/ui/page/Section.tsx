// A framed part of the page, which loads and fails independently of the others.

import type { ComponentChildren, Ref } from "preact";
import type { Polled } from "../../api/usePolled.ts";
import { PolledContents } from "./PolledContents.tsx";

interface SectionProps<T> {
  title: string;
  name: string;
  sectionRef: Ref<HTMLElement>;
  polled: Polled<T>;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  /** Shown also while nothing has loaded. */
  controls?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function Section<T>({ title, name, sectionRef, polled, note, actions, controls, children }: SectionProps<T>) {
  return (
    <section class="part-of-job card" ref={sectionRef} aria-labelledby={`title-${name}`} data-section={name}>
      <header>
        <h3 id={`title-${name}`}>{title}</h3>
        {note && <p class="note">{note}</p>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      {controls}
      <PolledContents polled={polled} name="section" title={title}>
        {children}
      </PolledContents>
    </section>
  );
}
