// Shows more of a list. It stays once it was used: a button that goes, or is disabled, would throw the focus away.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface MoreProps {
  /** Whether there is more, and none is on its way. */
  can: boolean;
  take: () => void;
  /** What the button says. */
  words: string;
  /** Beside it: how much is shown. */
  children?: ComponentChildren;
}

export function More({ can, take, words, children }: MoreProps) {
  const used = useRef(false);
  if (!can && !used.current) return null;
  const press = () => {
    if (!can) return;
    used.current = true;
    take();
  };
  return (
    <p class="rest">
      {children}{" "}
      <button type="button" aria-disabled={!can} onClick={press}>
        {words}
      </button>
    </p>
  );
}
