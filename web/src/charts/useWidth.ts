// Measures the width available to a chart.

import { useEffect, useRef, useState } from "preact/hooks";

/** The width of an element in pixels; 0 until it is known. Attach `ref` to the element. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new ResizeObserver((entries) => setWidth(Math.floor(entries.at(-1)?.contentRect.width ?? 0)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
