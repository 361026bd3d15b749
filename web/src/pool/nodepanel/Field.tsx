// A property of a node and its value, in a list of them.

import type { ComponentChildren } from "preact";

export function Field({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div data-field={name}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
