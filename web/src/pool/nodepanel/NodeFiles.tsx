// All files of a node, folded: a list costs a request to Batch, so it is read when a reader unfolds it.

import type { StateUpdater } from "preact/hooks";
import { type FilePlace, FileSection } from "../../files/FileSection.tsx";

export interface ShownFiles extends FilePlace {
  isUnfolded: boolean;
}

export const FOLDED: ShownFiles = { folder: "", file: "", isUnfolded: false };

interface NodeFilesProps {
  /** The API's path of the node's files. */
  files: string;
  shown: ShownFiles;
  setShown: (update: StateUpdater<ShownFiles>) => void;
}

export function NodeFiles({ files, shown, setShown }: NodeFilesProps) {
  const onToggle = ({ currentTarget: { open: isUnfolded } }: { currentTarget: HTMLDetailsElement }) =>
    setShown((before) => (before.isUnfolded === isUnfolded ? before : { ...before, isUnfolded }));
  return (
    <details class="node-files" open={shown.isUnfolded} onToggle={onToggle}>
      <summary>
        <h4>Files on the node</h4>
      </summary>
      {shown.isUnfolded && (
        <FileSection
          files={files}
          place={shown}
          setPlace={(place) => setShown((before) => ({ ...before, ...place }))}
          inFold
        />
      )}
    </details>
  );
}
