// Labels of the causes of failed tasks.

import { capitalized, spacedWords, visible } from "../../format/text.ts";

interface Cause {
  category: string | null;
  code: string | null;
  exitCode: number | null;
}

const EXITED = "FailureExitCode";
const CODES = new Map([
  [EXITED, "the command exited with a failure code"],
  ["CommandProgramNotFound", "the command's program wasn't found"],
  ["CommandLaunchFailed", "the command couldn't be started"],
  ["TaskEnded", "terminated externally or by its time limit"],
  ["TaskPreparationError", "the task couldn't be prepared"],
]);

/** "Exit code 137", or a label of the failure's code; `batchTerms` has Batch's own terms. */
export function causeLabel({ category, code, exitCode }: Cause): string {
  if (exitCode !== null && (!code || code === EXITED)) return `Exit code ${exitCode}`;
  const known = code && CODES.get(code);
  if (code) return capitalized(known || visible(spacedWords(code.charAt(0).toLowerCase() + code.slice(1))));
  return category ? `Failure of category ${visible(category)}` : "Failed; no cause reported";
}

/** Category and code as Batch writes them, and the exit code if it isn't the cause. */
export function batchTerms({ category, code, exitCode }: Cause): string {
  const exited = exitCode !== null && code && code !== EXITED && `exit code ${exitCode}`;
  return [category, code, exited].filter(Boolean).join(" · ");
}
