// The files of a task or a node as the node has them now: one folder at a time, and the file that was opened.

import { useEffect } from "preact/hooks";
import { ApiClient } from "../api/client.ts";
import { useRead } from "../api/useRead.ts";
import { Loading } from "../ui/page/PolledContents.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { FileView } from "./FileView.tsx";
import { FolderTable } from "./FolderTable.tsx";
import { type Folder, foldersAround, nameOf, pathOfFile, pathOfFolder } from "./model.ts";
import { Unreadable } from "./Unreadable.tsx";

/** The shown folder, "" for the top, and the open file, "" for none. */
export interface FilePlace {
  folder: string;
  file: string;
}

interface FileSectionProps {
  /** The API's path of the files. */
  files: string;
  place: FilePlace;
  setPlace: (place: FilePlace) => void;
  /** True inside an unfolded part of the page, whose summary is its heading; then it is read at once, also out of view. */
  inFold?: boolean;
}

const TITLE = "Files on the node";

export function FileSection({ files, place, setPlace, inFold = false }: FileSectionProps) {
  const { ref, element, inView } = useInView();
  const { value, error, retry } = useRead<Folder>(pathOfFolder(files, place.folder), fetchFolder, inView || inFold);
  useEffect(() => {
    if (place.file) element?.scrollIntoView({ block: "start" });
  }, [place, element]);
  return (
    <section ref={ref} class="files" aria-label={TITLE} data-section="files">
      <header>
        {!inFold && <h4>{TITLE}</h4>}
        {value && (
          <button type="button" class="csv" onClick={retry}>
            Refresh<span class="unseen"> the list of files</span>
          </button>
        )}
      </header>
      <FolderPath folder={place.folder} open={(folder) => setPlace({ ...place, folder })} />
      {error !== null ? (
        <Unreadable name="The list of files" error={error} retry={retry} />
      ) : value ? (
        <FolderTable
          folder={value}
          file={place.file}
          openFolder={(folder) => setPlace({ ...place, folder })}
          openFile={(file) => setPlace({ ...place, file })}
        />
      ) : (
        <Loading text="Reading it from the node…" />
      )}
      {place.file && (
        <FileView
          key={place.file}
          path={pathOfFile(files, place.file)}
          file={place.file}
          close={() => setPlace({ ...place, file: "" })}
        />
      )}
    </section>
  );
}

async function fetchFolder(path: string, signal: AbortSignal): Promise<Folder> {
  return new ApiClient().get<Folder>(path, signal);
}

/** "Top / wd / results", each a button but the last. */
function FolderPath({ folder, open }: { folder: string; open: (folder: string) => void }) {
  if (!folder) return null;
  return (
    <nav class="folder-path" aria-label="Folder">
      {["", ...foldersAround(folder)].map((each) => (
        <span key={each}>
          <button type="button" onClick={() => open(each)}>
            {each ? <ExternalText text={nameOf(each)} /> : "Top"}
          </button>{" "}
          <span aria-hidden="true">/</span>{" "}
        </span>
      ))}
      <b>
        <ExternalText text={nameOf(folder)} />
      </b>
    </nav>
  );
}
