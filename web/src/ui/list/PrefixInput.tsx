// The input for the beginning of an id.

interface Props {
  value: string;
  onInput: (text: string) => void;
}

export function PrefixInput({ value, onInput }: Props) {
  return (
    <input
      type="search"
      name="prefix"
      aria-label="Id begins with"
      placeholder="Id begins with…"
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
