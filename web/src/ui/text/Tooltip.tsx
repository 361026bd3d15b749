// One tooltip for the page, below the element with the focus or the pointer. It repeats text that screen readers get.

import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ExternalText } from "./ExternalText.tsx";

interface Tooltip {
  text: string;
  left: number;
  top: number;
}

const TooltipSetter = createContext<(tooltip: Tooltip | null) => void>(() => {});
const MARGIN = 12;
const WIDTH = 320;

export function TooltipLayer({ children }: { children: ComponentChildren }) {
  const [tooltip, setTooltip] = useState<Tooltip | null>(null);
  useEffect(() => {
    const hide = (event: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key === "Escape") setTooltip(null);
    };
    window.addEventListener("scroll", hide, true);
    window.addEventListener("keydown", hide);
    return () => {
      window.removeEventListener("scroll", hide, true);
      window.removeEventListener("keydown", hide);
    };
  }, []);
  return (
    <TooltipSetter.Provider value={setTooltip}>
      {children}
      {tooltip && (
        <div class="tip" aria-hidden="true" style={{ left: `${tooltip.left}px`, top: `${tooltip.top}px` }}>
          <ExternalText text={tooltip.text} />
        </div>
      )}
    </TooltipSetter.Provider>
  );
}

/** Returns a function that shows a text below an element; null hides it. */
export function useTooltipSetter(): (text: string | null, element?: Element) => void {
  const setTooltip = useContext(TooltipSetter);
  return (text, element) => {
    if (text === null || !element) return setTooltip(null);
    const box = element.getBoundingClientRect();
    const left = Math.max(MARGIN, Math.min(box.left, window.innerWidth - WIDTH - MARGIN));
    setTooltip({ text, left, top: box.bottom + 6 });
  };
}

/** Event handlers that show `text` below the element with the focus or the pointer. */
export function useTooltip(text: string) {
  const setTooltip = useTooltipSetter();
  const show = (event: Event) => setTooltip(text, event.currentTarget as Element);
  const hide = () => setTooltip(null);
  return { onPointerEnter: show, onPointerLeave: hide, onFocus: show, onBlur: hide };
}
