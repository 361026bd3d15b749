// The last lines of a task's stderr.txt and stdout.txt, read from its node when the panel opens.

import { type Read, useRead } from "../api/useRead.ts";
import { fetchPart } from "./fetchPart.ts";
import { LogText } from "./LogText.tsx";
import { pathOfFile } from "./model.ts";
import { type FilePart, lastLines } from "./shownFile.ts";
import { Unreadable } from "./Unreadable.tsx";

const TAIL = 8 * 1024;
const LINES = 12;

interface LastLinesProps {
  /** The API's path of the task's files. */
  files: string;
  /** Opens a file as a whole. */
  open: (file: string) => void;
}

export function LastLines({ files, open }: LastLinesProps) {
  const pathOf = (name: string) => `${pathOfFile(files, name)}?tail=${TAIL}`;
  const stderr = useRead<FilePart>(pathOf("stderr.txt"), fetchPart);
  const stdout = useRead<FilePart>(pathOf("stdout.txt"), fetchPart);
  const retry = () => {
    stderr.retry();
    stdout.retry();
  };
  return (
    <section class="last-lines" data-testid="last-lines" aria-label="Last lines of the output">
      {stderr.error !== null && stderr.error === stdout.error ? (
        <Unreadable name="The output" error={stderr.error} retry={retry} />
      ) : (
        <>
          <Output name="stderr.txt" read={stderr} retry={stderr.retry} open={open} />
          <Output name="stdout.txt" read={stdout} retry={stdout.retry} open={open} />
        </>
      )}
    </section>
  );
}

interface OutputProps {
  name: string;
  read: Read<FilePart>;
  retry: () => void;
  open: (file: string) => void;
}

function Output({ name, read: { value, error }, retry, open }: OutputProps) {
  if (error !== null) return <Unreadable name={name} error={error} retry={retry} />;
  const lines = value?.encoding ? lastLines(value, LINES) : [];
  return (
    <div data-output={name}>
      <h4>
        {lines.length ? `Last lines of ${name}` : name}{" "}
        {value && value.size > 0 && (
          <button type="button" class="csv" onClick={() => open(name)}>
            Open<span class="unseen"> {name}</span>
          </button>
        )}
      </h4>
      {!value ? (
        <p class="soft">Reading it from the node…</p>
      ) : lines.length ? (
        <LogText label={`Last lines of ${name}`} lines={lines} start={value.start} />
      ) : (
        <p class="soft">{emptyText(value)}</p>
      )}
    </div>
  );
}

function emptyText({ size, encoding }: FilePart): string {
  if (!size) return "It is empty.";
  return encoding ? "Its last lines are empty." : "It is no text.";
}
