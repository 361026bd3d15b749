// One task as Batch holds it now: asked for once, when somebody opens it, and never polled.

import { useEffect, useRef, useState } from "preact/hooks";
import { Reader, Refusal } from "../api";
import { Outside } from "../Outside";
import { failureOf } from "../poller";
import { Fields, type Json } from "./Fields";
import { pathOf, type JobView } from "./view";

interface PanelProps {
  view: JobView;
  task: string;
  close: () => void;
}

interface Answer {
  task: Record<string, Json> | null;
  trouble: string | null;
}

export function TaskPanel({ view, task, close }: PanelProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [{ task: found, trouble }, setAnswer] = useState<Answer>({ task: null, trouble: null });
  const [turn, again] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const stopped = new AbortController();
    void fetchTask(pathOf(view, "tasks", task), stopped.signal).then((answer) => {
      if (!stopped.signal.aborted) setAnswer(answer);
    });
    return () => stopped.abort();
  }, [turn]);
  const shut = () => dialog.current?.close(); // which gives the focus back
  const outside = (event: MouseEvent) => event.target === dialog.current && shut();
  return (
    <dialog ref={dialog} class="panel" aria-labelledby="panel-title" onClose={close} onClick={outside}>
      <div class="inner">
        <header>
          <h3 id="panel-title">
            <small>Task, live from Batch</small>
            <Outside text={task} />
          </h3>
          <button type="button" class="close" onClick={shut} aria-label="Close">
            ×
          </button>
        </header>
        {trouble !== null ? (
          <p class="problem" role="alert" data-testid="task-problem">
            <span>
              <Outside text={trouble} />
            </span>
            <button type="button" onClick={() => (setAnswer({ task: null, trouble: null }), again(turn + 1))}>
              Retry
            </button>
          </p>
        ) : found ? (
          <Fields value={found} />
        ) : (
          <p class="loading" role="status">
            Asking Batch…
          </p>
        )}
      </div>
    </dialog>
  );
}

async function fetchTask(path: string, signal: AbortSignal): Promise<Answer> {
  try {
    return { task: await new Reader().read<Record<string, Json>>(path, signal), trouble: null };
  } catch (error) {
    return { task: null, trouble: sentenceOf(error) };
  }
}

/** The server's own sentence, and when to try again where it said so. */
function sentenceOf(error: unknown): string {
  const message = failureOf(error, 0).message ?? "The server doesn't answer.";
  const wait = error instanceof Refusal ? error.retryAfter : null;
  return wait === null ? message : `${message.replace(/\.$/, "")}; try again in ${wait} s.`;
}
