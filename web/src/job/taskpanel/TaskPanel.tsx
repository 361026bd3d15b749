// The panel of a task: its outcome first, then its runs, files and dependencies, all properties of it last. What comes
// from Batch is requested when the panel opens, and not polled.

import { useState } from "preact/hooks";
import { ApiClient } from "../../api/client.ts";
import type { Json } from "../../api/model.ts";
import { pathOfJob } from "../../api/paths.ts";
import { useRead } from "../../api/useRead.ts";
import { type FilePlace, FileSection } from "../../files/FileSection.tsx";
import { LastLines } from "../../files/LastLines.tsx";
import type { JobView } from "../../routing/jobView.ts";
import { TaskTelemetry } from "../../telemetry/TaskTelemetry.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Loading } from "../../ui/page/PolledContents.tsx";
import { Fields } from "../../ui/text/Fields.tsx";
import { Id, TextWithIds } from "../../ui/text/Id.tsx";
import { DependencyList } from "./DependencyList.tsx";
import type { LiveTask } from "./model.ts";
import { TaskOutcome } from "./TaskOutcome.tsx";
import { UploadList } from "./UploadList.tsx";

interface PanelProps {
  view: JobView;
  task: string;
  close: () => void;
}

export function TaskPanel({ view, task, close }: PanelProps) {
  const { value: found, error, retry } = useRead(pathOfJob(view, "tasks", task), fetchTask);
  const [place, setPlace] = useState<FilePlace>({ folder: "", file: "" });
  const files = pathOfJob(view, "tasks", task, "files");
  const output = pathOfJob(view, "tasks", task, "output");
  const mayHaveOutput = error !== null || found?.executionInfo?.startTime; // it may be kept of a deleted task
  const heading = (
    <>
      <small>Task, live from Batch</small>
      <Id text={task} />
    </>
  );
  return (
    <Panel class="of-task" close={close} heading={heading}>
      {error !== null ? (
        <p class="problem" role="alert" data-testid="task-problem">
          <span>
            <TextWithIds text={error} />
          </span>
          <button type="button" onClick={retry}>
            Retry
          </button>
        </p>
      ) : found ? (
        <TaskOutcome account={view.account} task={found} />
      ) : (
        <Loading text="Loading from Batch…" />
      )}
      {mayHaveOutput && (
        <LastLines
          files={files}
          output={output}
          start={found?.executionInfo?.startTime ?? null}
          open={(file) => setPlace({ folder: "", file })}
        />
      )}
      <TaskTelemetry view={view} task={task} />
      <FileSection files={files} place={place} setPlace={setPlace} />
      {found && (
        <>
          <UploadList outputFiles={found.outputFiles ?? []} />
          <DependencyList view={view} dependsOn={found.dependsOn ?? null} />
          <details class="all-properties">
            <summary>All properties of the task in Batch</summary>
            <Fields value={found as unknown as Record<string, Json>} />
          </details>
        </>
      )}
    </Panel>
  );
}

async function fetchTask(path: string, signal: AbortSignal): Promise<LiveTask> {
  return new ApiClient().get<LiveTask>(path, signal);
}
