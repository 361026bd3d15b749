// An open file: its last part, earlier parts on demand, and later ones while it is followed.

import { useEffect, useRef, useState } from "preact/hooks";
import { errorMessage } from "../api/poller.ts";
import { fetchPart } from "./fetchPart.ts";
import { appended, type FilePart, MAX_SHOWN, prepended } from "./shownFile.ts";

/** Bytes of the first part, and of earlier ones. */
const PART = 64 * 1024;
/** Each part costs two requests to Batch. */
const FOLLOW_MS = 5_000;

interface OpenFile {
  part: FilePart | null;
  /** The sentence of the last request, if it failed; then the file isn't followed. */
  error: string | null;
}

/** `path` is the API's path of the file. A file that is only kept isn't followed. */
export function useFile(path: string, following: boolean) {
  const [file, setFile] = useState<OpenFile>({ part: null, error: null });
  const [attempt, setAttempt] = useState(0);
  const latest = useRef<FilePart | null>(null);
  const mounted = useRef(new AbortController());
  useEffect(() => () => mounted.current.abort(), []);

  const read = async (next: Promise<FilePart>, signal: AbortSignal): Promise<boolean> => {
    try {
      latest.current = await next;
      if (!signal.aborted) setFile({ part: latest.current, error: null });
      return true;
    } catch (error) {
      if (!signal.aborted) setFile({ part: latest.current, error: errorMessage(error) });
      return false;
    }
  };
  useEffect(() => {
    const stopped = new AbortController();
    let timer: number | undefined;
    const step = async () => {
      const isPaused = document.hidden && latest.current !== null;
      const isWell = isPaused || (await read(latestPart(path, latest.current, stopped.signal), stopped.signal));
      if (isWell && following && !latest.current?.keptAt && !stopped.signal.aborted) timer = window.setTimeout(step, FOLLOW_MS);
    };
    void step();
    return () => {
      stopped.abort();
      window.clearTimeout(timer);
    };
  }, [path, following, attempt]);

  const earlier = () => {
    const { signal } = mounted.current;
    if (latest.current) void read(earlierPart(path, latest.current, signal), signal);
  };
  return { ...file, earlier, retry: () => setAttempt(attempt + 1) };
}

async function latestPart(path: string, shown: FilePart | null, signal: AbortSignal): Promise<FilePart> {
  if (!shown) return fetchPart(`${path}?tail=${PART}`, signal);
  const later = await fetchPart(`${path}?offset=${shown.next}&length=${MAX_SHOWN}`, signal);
  const isNew = later.size < shown.next;
  return isNew ? fetchPart(`${path}?tail=${PART}`, signal) : appended(shown, later);
}

async function earlierPart(path: string, shown: FilePart, signal: AbortSignal): Promise<FilePart> {
  const offset = Math.max(0, shown.start - PART);
  return prepended(shown, await fetchPart(`${path}?offset=${offset}&length=${shown.start - offset}`, signal));
}
