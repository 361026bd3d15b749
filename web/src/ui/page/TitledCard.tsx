// A framed part of the page with a title, whose data the page has already loaded.

import type { ComponentChildren } from "preact";

interface TitledCardProps {
  title: string;
  name: string;
  children: ComponentChildren;
}

export function TitledCard({ title, name, children }: TitledCardProps) {
  return (
    <section class="part-of-job card" aria-labelledby={`title-${name}`} data-section={name}>
      <header>
        <h3 id={`title-${name}`}>{title}</h3>
      </header>
      {children}
    </section>
  );
}
