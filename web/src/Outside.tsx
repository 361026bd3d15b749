// Text that came from outside: its direction can't spill over, and characters that could disguise it show as such.

const DISGUISES = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Control, direction and zero-width characters become visible. */
export function visible(text: string): string {
  return text.replace(DISGUISES, "\ufffd");
}

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
