const idText = /^[1-9]\d{0,18}$/;
const quantityText = /^(?:0|[1-9]\d{0,15})$/;
const largestId = 9223372036854775807n;
/** Digits that a double holds whatever they are. */
const exactDigits = 15;

export const idRule = 'must be a whole number from 1 to 9223372036854775807, in digits alone';
export const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';

/** The id that the text is, or undefined: no sign, space, point, exponent, separator or leading zero. */
export function parseId(text: string): number | bigint | undefined {
  if (!idText.test(text)) return undefined;
  if (text.length <= exactDigits) return Number(text);
  const id = BigInt(text);
  return id <= largestId ? id : undefined;
}

/** The quantity that the text is, or undefined; as strict as `parseId`: `Number('')` is 0, and would empty a shelf. */
export function parseQuantity(text: string): number | undefined {
  if (!quantityText.test(text)) return undefined;
  const quantity = Number(text);
  return Number.isSafeInteger(quantity) ? quantity : undefined;
}

/** Adds whole numbers without losing a unit, fast where they are small. */
export class ExactSum {
  private whole = 0n;
  private part = 0;

  add(value: number): void {
    this.part += value;
    if (Math.abs(this.part) < 2 ** 52 && Math.abs(value) < 2 ** 52) return;
    this.part -= value;
    this.whole += BigInt(this.part) + BigInt(value);
    this.part = 0;
  }

  value(): bigint {
    return this.whole + BigInt(this.part);
  }
}
