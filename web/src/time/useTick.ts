// One timer for all components that show an age.

import { useEffect, useState } from "preact/hooks";

const listeners = new Set<() => void>();
let ticking: number | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  ticking ??= window.setInterval(() => {
    for (const notify of listeners) notify();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(ticking);
      ticking = undefined;
    }
  };
}

/** Renders the component that calls it once a second. */
export function useTick(): void {
  const [, setTurn] = useState(0);
  useEffect(() => listen(() => setTurn((turn) => turn + 1)), []);
}
