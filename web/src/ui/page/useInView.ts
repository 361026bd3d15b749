// Reports whether a part of the page is in view.

import { useEffect, useState } from "preact/hooks";

const MARGIN = "200px";

/** Reports whether an element is in view or close to it; attach `ref` to the element, which may be replaced by another. */
export function useInView() {
  const [element, ref] = useState<HTMLElement | null>(null);
  const [inView, setInView] = useState(false);
  useEffect(() => {
    if (!element) return undefined;
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: MARGIN,
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return { ref, element, inView };
}
