// Lines of a file as they were written, one below the other. The last one is in view until the reader scrolls away.

import { useLayoutEffect, useRef } from "preact/hooks";
import { visible } from "../format/text.ts";

interface LogTextProps {
  label: string;
  lines: string[];
  /** The offset of the first line in the file. */
  start: number;
}

const NEAR_END = 40;

/** One text for all lines, as there may be thousands. */
export function LogText({ label, lines, start }: LogTextProps) {
  const ref = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const before = useRef(start);
  useLayoutEffect(() => {
    const log = ref.current;
    if (!log) return;
    if (start < before.current) log.scrollTop = 0;
    else if (isAtEnd.current) log.scrollTop = log.scrollHeight;
    before.current = start;
  }, [lines, start]);
  const onScroll = ({ currentTarget: log }: { currentTarget: HTMLPreElement }) => {
    isAtEnd.current = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
  };
  return (
    <pre ref={ref} class="log" aria-label={label} tabIndex={0} onScroll={onScroll}>
      {lines.map(visible).join("\n")}
    </pre>
  );
}
