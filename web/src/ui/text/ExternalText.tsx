// Text from outside, such as ids and messages. Its direction doesn't affect its surroundings, and characters that
// could disguise it become visible.

import { visible } from "../../format/text.ts";

export function ExternalText({ text }: { text: string }) {
  return <bdi>{visible(text)}</bdi>;
}

/** The same for a text of several lines. */
export function ExternalLines({ text }: { text: string }) {
  const lines = text.split(/\r\n|[\r\n]/);
  return (
    <>
      {lines.map((line, index) => (
        <span key={index}>
          {index > 0 && "\n"}
          <ExternalText text={line.replaceAll("\t", "  ")} />
        </span>
      ))}
    </>
  );
}
