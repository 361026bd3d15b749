// One tooltip for the page, shown beside what has the focus or the pointer. It repeats what screen readers get anyway.

import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ExternalText } from "./ExternalText.tsx";

interface Tip {
  text: string;
  left: number;
  top: number;
}

const SetTip = createContext<(tip: Tip | null) => void>(() => {});
const MARGIN = 12;
const WIDTH = 320;

export function TipLayer({ children }: { children: ComponentChildren }) {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    const hide = (event: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key === "Escape") setTip(null);
    };
    window.addEventListener("scroll", hide, true);
    window.addEventListener("keydown", hide);
    return () => {
      window.removeEventListener("scroll", hide, true);
      window.removeEventListener("keydown", hide);
    };
  }, []);
  return (
    <SetTip.Provider value={setTip}>
      {children}
      {tip && (
        <div class="tip" aria-hidden="true" style={{ left: `${tip.left}px`, top: `${tip.top}px` }}>
          <ExternalText text={tip.text} />
        </div>
      )}
    </SetTip.Provider>
  );
}

/** Shows a text beside an element, until told otherwise; null hides it. */
export function useTipBeside(): (text: string | null, element?: Element) => void {
  const setTip = useContext(SetTip);
  return (text, element) => {
    if (text === null || !element) return setTip(null);
    const box = element.getBoundingClientRect();
    const left = Math.max(MARGIN, Math.min(box.left, window.innerWidth - WIDTH - MARGIN));
    setTip({ text, left, top: box.bottom + 6 });
  };
}

/** Event handlers that show `text` beside the element. */
export function useTip(text: string) {
  const tip = useTipBeside();
  const show = (event: Event) => tip(text, event.currentTarget as Element);
  const hide = () => tip(null);
  return { onPointerEnter: show, onPointerLeave: hide, onFocus: show, onBlur: hide };
}
