// Saves a whole file, or the end that was kept of it: by a link if one answer holds it, otherwise in several parts.

import { useEffect, useRef, useState } from "preact/hooks";
import { errorMessage } from "../api/poller.ts";
import { formatShare } from "../format/numbers.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { fetchPart } from "./fetchPart.ts";
import type { FilePart } from "./shownFile.ts";

/** The most that one answer holds. */
const MAX_ANSWER = 8 * 1024 * 1024;
const REVOKE_DELAY_MS = 60_000;

interface DownloadButtonProps {
  /** The API's path of the file. */
  path: string;
  name: string;
  /** The part that is shown; all of it where the file is only kept. */
  part: FilePart;
}

export function DownloadButton({ path, name, part: { start, size, keptAt } }: DownloadButtonProps) {
  const [status, setStatus] = useState("");
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  if (keptAt) {
    return (
      <a class="csv" href={`${path}?offset=${start}`} download={name}>
        Download what was kept<span class="unseen"> of {name}</span>
      </a>
    );
  }
  if (size <= MAX_ANSWER) {
    return (
      <a class="csv" href={path} download={name}>
        Download<span class="unseen"> {name}</span>
      </a>
    );
  }
  const download = async () => {
    running.current?.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    try {
      save(await partsOf(path, size, signal, (done) => setStatus(formatShare(done, size))), name);
      setStatus("Saved.");
    } catch (error) {
      if (!signal.aborted) setStatus(errorMessage(error));
    }
  };
  return (
    <>
      <button type="button" class="csv" onClick={download}>
        Download<span class="unseen"> {name}</span>
      </button>
      <span role="status">
        <ExternalText text={status} />
      </span>
    </>
  );
}

/** The parts as blobs, which browsers keep on disk when they are large. */
async function partsOf(path: string, size: number, signal: AbortSignal, onPart: (done: number) => void): Promise<Blob[]> {
  const parts: Blob[] = [];
  for (let offset = 0; offset < size; ) {
    onPart(offset);
    const part = await fetchPart(`${path}?offset=${offset}`, signal);
    if (!part.bytes.length) break;
    parts.push(new Blob([part.bytes]));
    offset = part.next;
  }
  return parts;
}

function save(parts: Blob[], name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_DELAY_MS);
}
