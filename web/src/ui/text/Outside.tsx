// Text that came from outside: its direction can't spill over, and characters that could disguise it show as such.

import { visible } from "../../format/text.ts";

export function Outside({ text }: { text: string }) {
  return <bdi>{visible(text)}</bdi>;
}

/** The same of a text that has lines, which stay lines. */
export function OutsideLines({ text }: { text: string }) {
  const lines = text.split(/\r\n|[\r\n]/);
  return (
    <>
      {lines.map((line, index) => (
        <span key={index}>
          {index > 0 && "\n"}
          <Outside text={line.replaceAll("\t", "  ")} />
        </span>
      ))}
    </>
  );
}
