// What is in a folder: folders first, then files with size and last change.

import { formatExactTime } from "../format/dates.ts";
import { valueText } from "../telemetry/series/units.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { type FileEntry, type Folder, nameOf } from "./model.ts";

interface FolderTableProps {
  folder: Folder;
  /** The open file. */
  file: string;
  openFolder: (folder: string) => void;
  openFile: (file: string) => void;
}

export function FolderTable({ folder, file, openFolder, openFile }: FolderTableProps) {
  if (!folder.value.length) return <p class="soft">The folder is empty.</p>;
  return (
    <>
      <table class="plain" data-testid="files">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {folder.value.map((entry) => (
            <EntryRow
              key={entry.path}
              entry={entry}
              isOpen={entry.path === file}
              open={() => (entry.isFolder ? openFolder(entry.path) : openFile(entry.path))}
            />
          ))}
        </tbody>
      </table>
      {!folder.complete && <p class="soft">The folder has more files than are listed.</p>}
    </>
  );
}

interface EntryRowProps {
  entry: FileEntry;
  isOpen: boolean;
  open: () => void;
}

function EntryRow({ entry: { path, isFolder, size, lastModified }, isOpen, open }: EntryRowProps) {
  return (
    <tr data-file={path} data-open={isOpen}>
      <th scope="row">
        <button type="button" class="name" aria-pressed={isFolder ? undefined : isOpen} onClick={open}>
          <ExternalText text={nameOf(path)} />
          {isFolder && "/"}
        </button>
      </th>
      <td class="number">{size === null ? "" : valueText(size, "bytes")}</td>
      <td class="soft">
        {lastModified && <time dateTime={lastModified}>{formatExactTime(Date.parse(lastModified))}</time>}
      </td>
    </tr>
  );
}
