// Where a task itself uploads its files at its end, as its output files say.

import { ExternalText } from "../../ui/text/ExternalText.tsx";
import type { OutputFile } from "./model.ts";
import { conditionText, placeOf } from "./uploads.ts";

export function UploadList({ outputFiles }: { outputFiles: OutputFile[] }) {
  if (!outputFiles.length) return null;
  return (
    <section class="uploads" data-testid="uploads" aria-labelledby="title-uploads">
      <h4 id="title-uploads">Uploaded by the task</h4>
      <ul>
        {outputFiles.map((file, at) => (
          <li key={at}>
            <code>
              <ExternalText text={file.filePattern ?? ""} />
            </code>{" "}
            to <Place file={file} />, {conditionText(file)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Place({ file }: { file: OutputFile }) {
  const place = placeOf(file);
  if (!place) return <>an unknown place</>;
  return (
    <a href={place} target="_blank" rel="noreferrer">
      <ExternalText text={place} />
    </a>
  );
}
