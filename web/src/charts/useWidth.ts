// How wide a chart may be.

import { useEffect, useRef, useState } from "preact/hooks";

/** How wide an element is, in pixels; 0 until it is known. Give `ref` to the element. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watcher = new ResizeObserver((entries) => setWidth(Math.floor(entries.at(-1)?.contentRect.width ?? 0)));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return { ref, width };
}
