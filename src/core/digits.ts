/** Numbers in texts: so many digits as are shown, without zeros that say nothing. */

/** A number rounded to so many significant digits, as JavaScript writes it: `0.5`, not `0.5000`. */
export function withDigits(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}
