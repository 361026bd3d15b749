// Reports whether a part of the page is in view.

import { useEffect, useRef, useState } from "preact/hooks";

const MARGIN = "200px";

/** Reports whether an element is in view or close to it; attach `ref` to the element. */
export function useInView() {
  const ref = useRef<HTMLElement>(null);
  const [inView, setInView] = useState(false);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: MARGIN,
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, inView };
}
