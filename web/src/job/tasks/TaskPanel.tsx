// One task as Batch holds it now: asked for once, when somebody opens it, and never polled.

import { useEffect, useState } from "preact/hooks";
import { ApiClient } from "../../api/client.ts";
import type { Json } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { errorMessage } from "../../api/poller.ts";
import type { JobView } from "../../routing/jobView.ts";
import { TaskTelemetry } from "../../telemetry/TaskTelemetry.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Fields } from "../../ui/text/Fields.tsx";

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
    void fetchTask(pathOfJob(view, "tasks", task), stopped.signal).then((answer) => {
      if (!stopped.signal.aborted) setAnswer(answer);
    });
    return () => stopped.abort();
  }, [turn]);
  const retry = () => {
    setAnswer({ task: null, trouble: null });
    again(turn + 1);
  };
  const heading = (
    <>
      <small>Task, live from Batch</small>
      <ExternalText text={task} />
    </>
  );
  return (
    <Panel class="of-task" close={close} heading={heading}>
      {trouble !== null ? (
        <p class="problem" role="alert" data-testid="task-problem">
          <span>
            <ExternalText text={trouble} />
          </span>
          <button type="button" onClick={retry}>
            Retry
          </button>
        </p>
      ) : found ? (
        <Fields value={found} />
      ) : (
        <p class="loading" role="status">
          Loading from Batch…
        </p>
      )}
      <TaskTelemetry view={view} task={task} />
    </Panel>
  );
}

async function fetchTask(path: string, signal: AbortSignal): Promise<Answer> {
  try {
    return { task: await new ApiClient().get<Record<string, Json>>(path, signal), trouble: null };
  } catch (error) {
    return { task: null, trouble: errorMessage(error) };
  }
}
