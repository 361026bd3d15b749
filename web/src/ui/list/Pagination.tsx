// Buttons for the previous and the next page of a list. They keep the focus while a page loads.

import { useRef } from "preact/hooks";

interface PaginationProps {
  /** The kind of entries, such as "tasks". */
  noun: string;
  /** The number of pages before this one. */
  before: number;
  /** Whether the requested page has loaded; until then the next page is disabled. */
  fresh: boolean;
  more: boolean;
  back: () => void;
  next: () => void;
}

export function Pagination({ noun, before, fresh, more, back, next }: PaginationProps) {
  const paged = useRef(false);
  if (fresh) paged.current = more || before > 0;
  if (!paged.current && !before) return null;
  return (
    <nav class="pages" aria-label={`Pages of ${noun}`}>
      <PageButton enabled={before > 0} onClick={back}>
        Previous
      </PageButton>
      <span>Page {before + 1}</span>
      <PageButton enabled={fresh && more} onClick={next}>
        Next page
      </PageButton>
    </nav>
  );
}

/** Uses aria-disabled, as a disabled button loses the focus. */
function PageButton({ enabled, onClick, children }: { enabled: boolean; onClick: () => void; children: string }) {
  return (
    <button type="button" aria-disabled={!enabled} onClick={() => enabled && onClick()}>
      {children}
    </button>
  );
}
