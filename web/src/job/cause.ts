// Why a task failed, in words.

import { visible } from "../Outside";
import { spoken } from "../words";

interface Cause {
  category: string | null;
  code: string | null;
  exitCode: number | null;
}

const CODES: Record<string, string> = {
  FailureExitCode: "the command exited with a failure",
  CommandProgramNotFound: "the program of the command wasn't found",
  CommandLaunchFailed: "the command couldn't be started",
  TaskEnded: "it was ended by a request",
  TaskPreparationError: "the task couldn't be prepared",
};

/** "Exit code 137", or the code's words; what Batch calls it stands beside, as `termsOf`. */
export function wordsOf({ category, code, exitCode }: Cause): string {
  if (exitCode !== null) return `Exit code ${exitCode}`;
  const known = code && CODES[code];
  if (known) return known.charAt(0).toUpperCase() + known.slice(1);
  if (code) return visible(spoken(code.charAt(0).toLowerCase() + code.slice(1))).replace(/^./u, (letter) => letter.toUpperCase());
  return category ? `A failure of category ${visible(category)}` : "Failed without a stated cause";
}

/** Category and code as Batch writes them. */
export function termsOf({ category, code }: Cause): string {
  return [category, code].filter(Boolean).join(" · ");
}
