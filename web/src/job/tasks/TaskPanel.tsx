// The panel of a task, with its live properties from Batch: requested once, when the panel opens, and not polled.

import { useEffect, useState } from "preact/hooks";
import { ApiClient } from "../../api/client.ts";
import type { Json } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { errorMessage } from "../../api/poller.ts";
import type { JobView } from "../../routing/jobView.ts";
import { TaskTelemetry } from "../../telemetry/TaskTelemetry.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Loading } from "../../ui/page/PolledContents.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Fields } from "../../ui/text/Fields.tsx";

interface PanelProps {
  view: JobView;
  task: string;
  close: () => void;
}

interface LiveTask {
  task: Record<string, Json> | null;
  error: string | null;
}

export function TaskPanel({ view, task, close }: PanelProps) {
  const [{ task: found, error }, setLiveTask] = useState<LiveTask>({ task: null, error: null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    void fetchTask(pathOfJob(view, "tasks", task), stopped.signal).then((liveTask) => {
      if (!stopped.signal.aborted) setLiveTask(liveTask);
    });
    return () => stopped.abort();
  }, [attempt]);
  const retry = () => {
    setLiveTask({ task: null, error: null });
    setAttempt(attempt + 1);
  };
  const heading = (
    <>
      <small>Task, live from Batch</small>
      <ExternalText text={task} />
    </>
  );
  return (
    <Panel class="of-task" close={close} heading={heading}>
      {error !== null ? (
        <p class="problem" role="alert" data-testid="task-problem">
          <span>
            <ExternalText text={error} />
          </span>
          <button type="button" onClick={retry}>
            Retry
          </button>
        </p>
      ) : found ? (
        <Fields value={found} />
      ) : (
        <Loading text="Loading from Batch…" />
      )}
      <TaskTelemetry view={view} task={task} />
    </Panel>
  );
}

async function fetchTask(path: string, signal: AbortSignal): Promise<LiveTask> {
  try {
    return { task: await new ApiClient().get<Record<string, Json>>(path, signal), error: null };
  } catch (cause) {
    return { task: null, error: errorMessage(cause) };
  }
}
