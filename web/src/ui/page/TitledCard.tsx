// A framed part of the page with a title, whose data the page has already loaded.

import type { ComponentChildren } from "preact";

interface TitledCardProps {
  title: string;
  name: string;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function TitledCard({ title, name, note, actions, children }: TitledCardProps) {
  return (
    <section class="part-of-job card" aria-labelledby={`title-${name}`} data-section={name}>
      <header>
        <h3 id={`title-${name}`}>{title}</h3>
        {note && <p class="note">{note}</p>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
