// The latest run of a node's start task, with its output: its last lines if it failed, also where only those that were
// kept are left, otherwise links to the files.

import { LastLines } from "../../files/LastLines.tsx";
import { pathIn } from "../../files/model.ts";
import type { StartTaskInfo } from "../../nodes/model.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { FieldText } from "../../ui/text/Fields.tsx";
import { Field } from "./Field.tsx";

/** The folder on a node in which Batch runs its start task. */
const FOLDER = "startup";
const OUTPUTS = ["stderr.txt", "stdout.txt"];

interface StartTaskRunProps {
  run: StartTaskInfo;
  /** The API's path of the node's files. */
  files: string;
  /** The API's path of what is kept of the node's failed start tasks. */
  output: string;
  /** Opens a file and the folder around it. */
  open: (folder: string, file: string) => void;
}

export function StartTaskRun({ run, files, output, open }: StartTaskRunProps) {
  const hasFailed = run.result?.toLowerCase() === "failure";
  const kept = run.startTime ? `${output}?start=${encodeURIComponent(run.startTime)}` : ""; // of this very run
  const openFile = (file: string) => open(FOLDER, file);
  return (
    <>
      <h4>Start task</h4>
      <dl class="fields-of" data-testid="start-task">
        <Field name="State">
          <ExternalText text={run.state} />
          {run.result && (
            <>
              , <ExternalText text={run.result} />
            </>
          )}
        </Field>
        {run.exitCode !== null && <Field name="Exit code">{run.exitCode}</Field>}
        {run.retryCount > 0 && <Field name="Retries">{run.retryCount}</Field>}
        <Field name="Started">
          <Age at={run.startTime} none="at an unknown time" />
        </Field>
        {run.endTime && (
          <Field name="Ended">
            <Age at={run.endTime} />
          </Field>
        )}
        {(run.failureCode || run.failureMessage) && (
          <Field name="Failure">
            <FieldText text={[run.failureCode, run.failureMessage].filter(Boolean).join(": ")} />
          </Field>
        )}
        {!hasFailed && (
          <Field name="Output">
            <span class="output-files">
              {OUTPUTS.map((name) => (
                <button key={name} type="button" class="csv" onClick={() => openFile(pathIn(FOLDER, name))}>
                  <span class="unseen">Open </span>
                  {name}
                </button>
              ))}
            </span>
          </Field>
        )}
      </dl>
      {hasFailed && (
        <LastLines key={run.startTime} files={files} folder={FOLDER} output={kept} open={openFile} />
      )}
    </>
  );
}
