// Where the beginning of an id is typed.

interface Props {
  value: string;
  type: (text: string) => void;
}

export function PrefixInput({ value, type }: Props) {
  return (
    <input
      type="search"
      name="prefix"
      aria-label="Id begins with"
      placeholder="Id begins with…"
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}
