// The JSON of a task as Batch has it now: the properties that the panel shows by themselves; all are listed below them.
// Every string comes from outside and is only shown as text.

interface Failure {
  category?: string | null;
  code?: string | null;
  message?: string | null;
  details?: { name?: string | null; value?: string | null }[] | null;
}

/** The latest run. */
export interface Execution {
  startTime?: string | null;
  endTime?: string | null;
  exitCode?: number | null;
  result?: string | null;
  retryCount?: number | null;
  requeueCount?: number | null;
  failureInfo?: Failure | null;
  containerInfo?: { error?: string | null } | null;
}

export interface Dependencies {
  taskIds?: string[] | null;
  taskIdRanges?: { start?: number | null; end?: number | null }[] | null;
}

/** Files that the task uploads itself, and where to. */
export interface OutputFile {
  filePattern?: string | null;
  destination?: { container?: { containerUrl?: string | null; path?: string | null } | null } | null;
  uploadOptions?: { uploadCondition?: string | null } | null;
}

export interface LiveTask {
  id: string;
  state: string;
  stateTransitionTime?: string | null;
  creationTime?: string | null;
  commandLine?: string | null;
  /** "exit code 137: SIGKILL, killed, often for lack of memory". */
  exitCodeText?: string | null;
  executionInfo?: Execution | null;
  nodeInfo?: { poolId?: string | null; nodeId?: string | null } | null;
  dependsOn?: Dependencies | null;
  outputFiles?: OutputFile[] | null;
  constraints?: { maxTaskRetryCount?: number | null } | null;
}
