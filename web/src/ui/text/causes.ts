// Words of the codes of causes for which tasks wait.

/** "slotsBusy" as "slots busy"; a job without an explanation so far has the cause "unknown". */
export function wordsOfCause(cause: string): string {
  if (cause === "unknown") return "not explained so far";
  return cause.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
