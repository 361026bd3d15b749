// Money: whole millionths of a currency's unit, so that sums are exact, and their texts.

/** Millionths of a currency's unit; the API's amounts have six digits after the point. */
export type Micros = number;

const UNIT = 1_000_000;
const CODE = /^[A-Z]{3}$/;

export function microsOf(amount: number): Micros {
  return Math.round(amount * UNIT);
}

/** "$1,234.50", "CHF 12.00"; "< $0.01" for less than the smallest coin. */
export function formatMoney(value: Micros, currency: string): string {
  const coin = UNIT / 10 ** decimalsOf(currency);
  return value > 0 && value < coin ? `< ${moneyText(coin, currency)}` : moneyText(value, currency);
}

/** "$1.2K", "$0.05", for the axis of a chart. */
export function formatMoneyTick(value: Micros, currency: string): string {
  if (value >= UNIT * 1000) return moneyText(value, currency, { notation: "compact", minimumFractionDigits: 0 });
  const isWhole = value % UNIT === 0;
  return moneyText(value, currency, { minimumFractionDigits: isWhole ? 0 : 2, maximumFractionDigits: isWhole ? 0 : 6 });
}

/** A currency without a code of ISO 4217 stands behind the number. */
function moneyText(value: Micros, currency: string, options: Intl.NumberFormatOptions = {}): string {
  if (CODE.test(currency)) {
    return new Intl.NumberFormat("en-US", { style: "currency", currency, ...options }).format(value / UNIT);
  }
  const plain = { minimumFractionDigits: 2, maximumFractionDigits: 2, ...options };
  return `${new Intl.NumberFormat("en-US", plain).format(value / UNIT)} ${currency}`.trim();
}

function decimalsOf(currency: string): number {
  if (!CODE.test(currency)) return 2;
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}
