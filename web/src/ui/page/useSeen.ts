// Whether a part of the page is in sight.

import { useEffect, useRef, useState } from "preact/hooks";

const NEAR = "200px";

/** Whether an element is in sight or near it; give `ref` to the element. */
export function useSeen() {
  const ref = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watcher = new IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: NEAR,
    });
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return { ref, seen };
}
