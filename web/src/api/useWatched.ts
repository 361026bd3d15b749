// Reads one part of the page, apart from all others.

import { useEffect, useRef, useState } from "preact/hooks";
import { Reader } from "./client.ts";
import { NOTHING_YET, Poller, type Reading } from "./poller.ts";

export interface Watched<T> extends Reading<T> {
  /** False while what is shown answers an earlier question. */
  fresh: boolean;
  retry: () => void;
}

interface Question<T> {
  path: string;
  /** What is asked, where the path moves with time; another subject's answer is not shown in place of an error. */
  subject?: string;
  /** Milliseconds from an answer to the next question, which may depend on the answer. */
  every: number | ((value: T | null) => number);
  seen?: boolean;
}

interface Kept<T> extends Reading<T> {
  subject: string;
}

/** Polls a path while `seen`; a 304 costs no body and keeps the value as it is. */
export function useWatched<T>({ path, subject = path, every, seen = true }: Question<T>): Watched<T> {
  const [kept, keep] = useState<Kept<T>>({ ...NOTHING_YET, subject });
  const reader = useRef(new Reader());
  const poller = useRef<Poller<T>>(null);
  useEffect(() => {
    if (!seen) return undefined;
    const read = async (signal: AbortSignal) => {
      const value = await reader.current.read<T>(path, signal);
      reader.current.endRound();
      return value;
    };
    const show = ({ value, failure }: Reading<T>) =>
      keep((before) => ({ value: value ?? (before.subject === subject ? before.value : null), failure, subject }));
    const rest = () => (typeof every === "number" ? every : every(poller.current?.value ?? null));
    poller.current = new Poller<T>(read, rest, show);
    return poller.current.start();
  }, [path, every, seen]);
  return { ...kept, fresh: kept.subject === subject, retry: () => poller.current?.refresh() };
}
