// One task as Batch holds it now: asked for once, when somebody opens it, and never polled.

import { useEffect, useState } from "preact/hooks";
import { Reader } from "../api";
import { Outside } from "../Outside";
import { Panel } from "../Panel";
import { sentenceOf } from "../poller";
import { TaskTelemetry } from "../telemetry/TaskTelemetry";
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
  const [{ task: found, trouble }, setAnswer] = useState<Answer>({ task: null, trouble: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    void fetchTask(pathOf(view, "tasks", task), stopped.signal).then((answer) => {
      if (!stopped.signal.aborted) setAnswer(answer);
    });
    return () => stopped.abort();
  }, [turn]);
  const heading = (
    <>
      <small>Task, live from Batch</small>
      <Outside text={task} />
    </>
  );
  return (
    <Panel class="of-task" close={close} heading={heading}>
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
      <TaskTelemetry view={view} task={task} />
    </Panel>
  );
}

async function fetchTask(path: string, signal: AbortSignal): Promise<Answer> {
  try {
    return { task: await new Reader().read<Record<string, Json>>(path, signal), trouble: null };
  } catch (error) {
    return { task: null, trouble: sentenceOf(error) };
  }
}
