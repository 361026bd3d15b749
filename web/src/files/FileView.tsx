// An open file: its last lines first, earlier ones on demand, new ones while it is followed, and a download. Of a file
// that is only kept all is shown at once.

import { useState } from "preact/hooks";
import { formatTime } from "../format/dates.ts";
import { valueText } from "../telemetry/series/units.ts";
import { Loading } from "../ui/page/PolledContents.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { DownloadButton } from "./DownloadButton.tsx";
import { LogText } from "./LogText.tsx";
import { nameOf } from "./model.ts";
import { type FilePart, linesOf } from "./shownFile.ts";
import { Unreadable } from "./Unreadable.tsx";
import { useFile } from "./useFile.ts";

interface FileViewProps {
  /** The API's path of the file. */
  path: string;
  file: string;
  close: () => void;
}

export function FileView({ path, file, close }: FileViewProps) {
  const [following, setFollowing] = useState(false);
  const { part, error, earlier, retry } = useFile(path, following);
  const name = nameOf(file);
  return (
    <div class="open-file" data-testid="open-file">
      <header>
        <h5>
          <ExternalText text={file} />
        </h5>
        {part?.encoding && !part.keptAt && (
          <button type="button" class="csv" aria-pressed={following} onClick={() => setFollowing(!following)}>
            Follow
          </button>
        )}
        {part && <DownloadButton path={path} name={name} part={part} />}
        <button type="button" class="csv" onClick={close}>
          Close<span class="unseen"> {name}</span>
        </button>
      </header>
      {error !== null && <Unreadable name={name} error={error} retry={retry} />}
      {!part ? (
        error === null && <Loading text="Reading it from the node…" />
      ) : part.encoding ? (
        <>
          <p class="soft" role="status">
            {rangeText(part)}{" "}
            {part.start > 0 && !part.keptAt && (
              <button type="button" class="csv" onClick={earlier}>
                Show earlier lines
              </button>
            )}
          </p>
          {part.size > 0 && <LogText label={name} lines={linesOf(part)} start={part.start} />}
          {following && !part.keptAt && error === null && <p class="soft">Followed: new lines appear within some seconds.</p>}
        </>
      ) : (
        <p class="soft">The file is no text, so it can only be downloaded. It has {valueText(part.size, "bytes")}.</p>
      )}
    </div>
  );
}

function rangeText(part: FilePart): string {
  if (!part.keptAt) return rangeOf(part);
  return `Kept ${formatTime(Date.parse(part.keptAt))}; Batch has the file no more. ${rangeOf(part)}`;
}

function rangeOf({ start, next, size }: FilePart): string {
  if (!size) return "The file is empty.";
  if (start === 0 && next === size) return `The whole file, ${valueText(size, "bytes")}.`;
  if (next === size) return `The last ${valueText(size - start, "bytes")} of ${valueText(size, "bytes")}.`;
  return `${valueText(next - start, "bytes")} of ${valueText(size, "bytes")}; a line that is being written is shown when it ends.`;
}
