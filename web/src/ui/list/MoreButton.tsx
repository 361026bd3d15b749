// A button that shows more of a list. After its first use it stays, so that it doesn't lose the focus.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface MoreButtonProps {
  /** Whether there is more, and none is loading. */
  enabled: boolean;
  onClick: () => void;
  label: string;
  /** Text before the button, such as the number of entries shown. */
  children?: ComponentChildren;
}

export function MoreButton({ enabled, onClick, label, children }: MoreButtonProps) {
  const used = useRef(false);
  if (!enabled && !used.current) return null;
  const press = () => {
    if (!enabled) return;
    used.current = true;
    onClick();
  };
  return (
    <p class="rest">
      {children}{" "}
      <button type="button" aria-disabled={!enabled} onClick={press}>
        {label}
      </button>
    </p>
  );
}
