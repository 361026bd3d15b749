// The ways to the next and the previous page of a list. They keep the focus while a page is on its way.

import { useRef } from "preact/hooks";

interface PagesProps {
  /** What there are pages of, as "tasks". */
  of: string;
  /** How many pages lie before this one. */
  before: number;
  /** Whether what is shown is the page that was asked for; until it is, nothing goes on. */
  fresh: boolean;
  more: boolean;
  back: () => void;
  next: () => void;
}

export function Pages({ of, before, fresh, more, back, next }: PagesProps) {
  const paged = useRef(false);
  if (fresh) paged.current = more || before > 0;
  if (!paged.current && !before) return null;
  return (
    <nav class="pages" aria-label={`Pages of ${of}`}>
      <Step can={before > 0} take={back}>
        Previous
      </Step>
      <span>Page {before + 1}</span>
      <Step can={fresh && more} take={next}>
        Next page
      </Step>
    </nav>
  );
}

/** A disabled button would throw the focus away. */
function Step({ can, take, children }: { can: boolean; take: () => void; children: string }) {
  return (
    <button type="button" aria-disabled={!can} onClick={() => can && take()}>
      {children}
    </button>
  );
}
