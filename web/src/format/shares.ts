// Used shares of what task slots offer, as text.

interface Shares {
  cpu: number | null;
  memory: number | null;
  gpu: number | null;
}

const NAMES = { cpu: "CPU", memory: "memory", gpu: "GPU" } as const;

/** "CPU 12%" and "memory 20%", as far as they are known. */
export function shareTexts(shares: Shares): string[] {
  const names = Object.keys(NAMES) as (keyof typeof NAMES)[];
  return names.flatMap((name) => {
    const share = shares[name];
    return share === null ? [] : [`${NAMES[name]} ${percentText(share)}`];
  });
}

function percentText(share: number): string {
  return share > 0 && share < 0.01 ? "< 1%" : `${Math.round(share * 100)}%`;
}

/** "CPU 12%, memory 20%"; "" where no share is known. */
export function sharesText(shares: Shares): string {
  return shareTexts(shares).join(", ");
}
