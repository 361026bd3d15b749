// The header of a column in a list. Roles are explicit, as the CSS of narrow screens removes the implicit ones.

import type { ComponentChildren } from "preact";
import { Link } from "../../routing/Link.tsx";

/** The order by a column: the present direction, null for another order, and the address of the order to choose. */
export interface ColumnOrder {
  direction: "ascending" | "descending" | null;
  to: string;
}

interface ColumnHeaderProps {
  kind?: string | undefined;
  /** Absent if the list can't be sorted by the column. */
  order?: ColumnOrder | undefined;
  children: ComponentChildren;
}

const ARROWS = { ascending: "↑", descending: "↓" };

export function ColumnHeader({ kind, order, children }: ColumnHeaderProps) {
  if (!order) {
    return (
      <th role="columnheader" scope="col" class={kind}>
        {children}
      </th>
    );
  }
  const { direction, to } = order;
  return (
    <th role="columnheader" scope="col" class={kind ? `${kind} orders` : "orders"} aria-sort={direction ?? "none"}>
      <Link to={to} mode="replace">
        {children}
        <span class="arrow" aria-hidden="true">
          {direction ? ARROWS[direction] : "↕"}
        </span>
      </Link>
    </th>
  );
}
