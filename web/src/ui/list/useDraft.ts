// The text in an input that filters a list: applied once the user pauses typing, and replaced when the address changes.

import { useEffect, useRef, useState } from "preact/hooks";

const TYPING_DEBOUNCE_MS = 250;

/** Returns the text to show, and a function for new text; `apply` is that of the latest render. */
export function useDraft(current: string, apply: (text: string) => void): [string, (text: string) => void] {
  const [draft, setDraft] = useState(current);
  const timer = useRef<number>(undefined);
  const latest = useRef(apply);
  latest.current = apply;
  useEffect(() => setDraft(current), [current]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const onInput = (text: string) => {
    setDraft(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => latest.current(text.trim()), TYPING_DEBOUNCE_MS);
  };
  return [draft, onInput];
}
