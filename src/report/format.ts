/** Numbers as people read them: few digits, a true minus sign, powers of ten where zeros would have to be counted. */

/** Digits that are shown: as many as the tutorial prints. */
const DIGITS = 3;

/** Below and from here on a number is written with a power of ten. */
const SMALLEST_PLAIN = 1e-3;
const SMALLEST_POWER = 1e5;

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function power(exponent: number): string {
  const digits = Array.from(String(Math.abs(exponent)), (digit) => SUPERSCRIPTS[Number(digit)]);
  return `10${exponent < 0 ? "⁻" : ""}${digits.join("")}`;
}

/**
 * A number for people.
 *
 * @param value Any number; null and what is not finite become a dash.
 * @returns For example `0.0712`, `1,536`, `3.1·10⁻⁸`.
 */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < SMALLEST_POWER) return formatCount(value);
  if (size >= SMALLEST_PLAIN && size < SMALLEST_POWER) {
    return size >= 1000
      ? formatCount(Math.round(value))
      : String(Number(value.toPrecision(DIGITS))).replace("-", "−");
  }
  const [mantissa = "", exponent = ""] = value.toExponential(DIGITS - 2).split("e");
  const factor = String(Number(mantissa)).replace("-", "−");
  const scale = power(Number(exponent));
  return factor === "1" ? scale : `${factor}·${scale}`;
}

/** A count, or the number of a step, with all of its digits: step 250,000 is no power of ten. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US").replace("-", "−");
}

/** A bound with its relation: `≤ 10⁻⁵`. */
export function formatBound(relation: string, bound: number): string {
  const sign = { "<=": "≤", ">=": "≥" }[relation] ?? relation;
  return `${sign} ${formatNumber(bound)}`;
}

/** A cell of a table: numbers for people, texts as they are, a dash where there is nothing. */
export function formatCell(cell: number | string | null | undefined): string {
  return typeof cell === "string" ? cell : formatNumber(cell);
}

/**
 * Rounds for the document's data, which nobody computes with.
 *
 * @returns Five significant digits; null where the value is not finite.
 */
export function roundForData(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(5)) : null;
}
