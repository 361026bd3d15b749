// Into how many scripts the tasks of a failure group are divided, as the API names at most 20,000 in one.

/** Parts differ a little in size, and groups grow until their scripts are requested. */
const TASKS_OF_A_PART = 15_000;

export function rerunParts(tasks: number): number {
  return Math.max(1, Math.ceil(tasks / TASKS_OF_A_PART));
}
