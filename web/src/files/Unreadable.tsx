// A file or folder that can't be read, in the server's words: the node is gone, the caller lacks a right, and so on.

import { TextWithIds } from "../ui/text/Id.tsx";

interface UnreadableProps {
  name: string;
  error: string;
  retry: () => void;
}

export function Unreadable({ name, error, retry }: UnreadableProps) {
  return (
    <p class="unreadable" data-testid="unreadable">
      <span>
        {name} can't be read. <TextWithIds text={error} />
      </span>
      <button type="button" class="csv" onClick={retry} aria-label={`Retry: ${name}`}>
        Retry
      </button>
    </p>
  );
}
