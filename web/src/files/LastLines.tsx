// The last lines of stderr.txt and stdout.txt of a task or start task, read from its node when the panel opens, or as
// they were kept.

import { ApiClient } from "../api/client.ts";
import { type Read, useRead } from "../api/useRead.ts";
import { formatTime } from "../format/dates.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { fetchPart } from "./fetchPart.ts";
import { beginsAfter, isOfEarlierRun, type KeptOutput, keptPart, STREAMS, type StreamFile } from "./keptOutput.ts";
import { LogText } from "./LogText.tsx";
import { pathIn, pathOfFile } from "./model.ts";
import { type FilePart, lastLines } from "./shownFile.ts";
import { Unreadable } from "./Unreadable.tsx";

const TAIL = 8 * 1024;
const LINES = 12;

interface LastLinesProps {
  /** The API's path of the files of the task or node. */
  files: string;
  /** The folder of the two files, "" for the top. */
  folder?: string;
  /** The API's path of what was kept of the output, "" if it can't be asked for. */
  output?: string;
  /** When the latest run of the task began, null if that isn't known. */
  start?: string | null;
  /** Opens a file as a whole, by its path. */
  open: (file: string) => void;
}

export function LastLines({ files, folder = "", output = "", start = null, open }: LastLinesProps) {
  const pathOf = (name: StreamFile) => `${pathOfFile(files, pathIn(folder, name))}?tail=${TAIL}`;
  const openIn = (name: StreamFile) => open(pathIn(folder, name));
  const stderr = useRead<FilePart>(pathOf("stderr.txt"), fetchPart);
  const stdout = useRead<FilePart>(pathOf("stdout.txt"), fetchPart);
  const isUnread = stderr.error !== null || stdout.error !== null;
  const kept = useRead<KeptOutput>(output, fetchKept, output !== "" && isUnread).value;
  const retry = () => {
    stderr.retry();
    stdout.retry();
  };
  const isNothingKept = kept?.stderr.text == null && kept?.stdout.text == null;
  return (
    <section class="last-lines" data-testid="last-lines" aria-label="Last lines of the output">
      {stderr.error !== null && stderr.error === stdout.error && isNothingKept ? (
        <>
          <Unreadable name="The output" error={stderr.error} retry={retry} />
          <WhyNotKept message={kept?.stderr.message} />
        </>
      ) : (
        <>
          <Output name="stderr.txt" read={stderr} kept={kept} start={start} retry={stderr.retry} open={openIn} />
          <Output name="stdout.txt" read={stdout} kept={kept} start={start} retry={stdout.retry} open={openIn} />
        </>
      )}
    </section>
  );
}

async function fetchKept(path: string, signal: AbortSignal): Promise<KeptOutput> {
  return new ApiClient().get<KeptOutput>(path, signal);
}

interface OutputProps {
  name: StreamFile;
  read: Read<FilePart>;
  kept: KeptOutput | null;
  /** When the latest run began, null if that isn't known. */
  start: string | null;
  retry: () => void;
  open: (name: StreamFile) => void;
}

function Output({ name, read: { value, error }, kept, start, retry, open }: OutputProps) {
  if (error !== null) return <Kept name={name} error={error} kept={kept} start={start} retry={retry} />;
  return (
    <div data-output={name} data-kept={value?.keptAt ? "" : undefined}>
      <h4>
        {value?.encoding && lastLines(value, LINES).length ? `Last lines of ${name}` : name}{" "}
        {value && <KeptNote at={value.keptAt} isEarlier={beginsAfter(start, value.keptAt)} />}{" "}
        {value && value.size > 0 && (
          <button type="button" class="csv" onClick={() => open(name)}>
            Open<span class="unseen"> {name}</span>
          </button>
        )}
      </h4>
      {value ? <Lines name={name} part={value} /> : <p class="soft">Reading it from the node…</p>}
    </div>
  );
}

/** The output as it was kept, where its file can't be read. */
function Kept({ name, error, kept, start, retry }: Omit<OutputProps, "read" | "open"> & { error: string }) {
  const part = keptPart(kept, name);
  if (!kept || !part)
    return (
      <>
        <Unreadable name={name} error={error} retry={retry} />
        <WhyNotKept message={kept?.[STREAMS[name]].message} />
      </>
    );
  return (
    <div data-output={name} data-kept>
      <h4>
        Last lines of {name} <KeptNote at={part.keptAt} isEarlier={isOfEarlierRun(kept, start)} />
      </h4>
      <Lines name={name} part={part} />
    </div>
  );
}

/** When an output was kept, and whether it says something of the latest run. */
function KeptNote({ at, isEarlier }: { at: string | null; isEarlier: boolean }) {
  if (!at) return null;
  return (
    <small class="soft">
      kept {formatTime(Date.parse(at))}
      {isEarlier && (
        <>
          , of <strong>an earlier run</strong>
        </>
      )}
    </small>
  );
}

function Lines({ name, part }: { name: StreamFile; part: FilePart }) {
  const lines = part.encoding ? lastLines(part, LINES) : [];
  if (!lines.length) return <p class="soft">{emptyText(part)}</p>;
  return <LogText label={`Last lines of ${name}`} lines={lines} start={part.start} />;
}

function WhyNotKept({ message }: { message: string | null | undefined }) {
  if (!message) return null;
  return (
    <p class="soft">
      <ExternalText text={message} />
    </p>
  );
}

function emptyText({ bytes, size, encoding }: FilePart): string {
  if (!size) return "It is empty.";
  if (!bytes.length) return "A line that is being written is shown when it ends.";
  return encoding ? "Its last lines are empty." : "It is no text.";
}
