// The text in an input that filters a list: applied once the user pauses typing, unless the address changes before.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

const TYPING_DEBOUNCE_MS = 250;

/** Returns the text to show, and a function for new text; `apply` is that of the latest render. */
export function useDraft(current: string, apply: (text: string) => void): [string, (text: string) => void] {
  const [draft, setDraft] = useState(current);
  const timer = useRef<number>(undefined);
  const latest = useRef(apply);
  latest.current = apply;
  // A later effect would undo input that follows the application of earlier input.
  useLayoutEffect(() => {
    const reset = () => {
      window.clearTimeout(timer.current);
      setDraft(current);
    };
    reset();
    window.addEventListener("popstate", reset);
    return () => {
      window.clearTimeout(timer.current);
      window.removeEventListener("popstate", reset);
    };
  }, [current]);
  const onInput = (text: string) => {
    setDraft(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => latest.current(text.trim()), TYPING_DEBOUNCE_MS);
  };
  return [draft, onInput];
}
