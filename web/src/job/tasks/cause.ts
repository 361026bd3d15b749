// Why a task failed, in words.

import { begun, spoken, visible } from "../../format/text.ts";

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

/** "Exit code 137", or the code's words; what Batch calls it stands beside, as `termsOf`. */
export function wordsOf({ category, code, exitCode }: Cause): string {
  if (exitCode !== null && (!code || code === EXITED)) return `Exit code ${exitCode}`;
  const known = code && CODES.get(code);
  if (code) return begun(known || visible(spoken(code.charAt(0).toLowerCase() + code.slice(1))));
  return category ? `Failure of category ${visible(category)}` : "Failed; no cause reported";
}

/** Category and code as Batch writes them, and the exit code where it isn't the cause. */
export function termsOf({ category, code, exitCode }: Cause): string {
  const exited = exitCode !== null && code && code !== EXITED && `exit code ${exitCode}`;
  return [category, code, exited].filter(Boolean).join(" · ");
}
