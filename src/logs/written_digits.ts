/** Tells from the spelling of a column's numbers whether their writer rounded them. */
import type { LogRounding } from "./run_log.ts";

const PLAIN = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;

/** Significant digits that transformers 5 prints: `%.4g`. */
const LEAST_DIGITS = 4;

/**
 * Judges the spelling of one column's values.
 *
 * `%.3f` writes 0.410 and 0.000, where a full-precision writer (`repr`, JSON) writes 0.41 and 0.0: so numbers that all have the
 * same two or more decimals were rounded to them. Numbers in quotes were formatted to significant digits.
 */
export class WrittenDigits {
  #count = 0;
  #decimals: number | undefined;
  #sameDecimals = true;
  #allQuoted = true;
  #mostDigits = 0;

  /** Takes the next value as the file spells it; undefined where its spelling says nothing. */
  see(written: string | undefined): void {
    if (written === undefined || (!this.#sameDecimals && !this.#allQuoted)) return;
    const quoted = written.startsWith("'") || written.startsWith('"');
    const parts = PLAIN.exec(quoted ? written.slice(1, -1) : written);
    if (!parts) return; // nan and inf have no digits.
    const [, , whole, fraction = "", exponent = "0"] = parts;
    this.#count++;
    this.#allQuoted &&= quoted;
    const digits = (whole + fraction).replace(/^0+/, "").length;
    this.#mostDigits = Math.max(this.#mostDigits, digits);
    const decimals = fraction.length - Number(exponent);
    if (fraction.length < 2 || decimals !== (this.#decimals ?? decimals)) {
      this.#sameDecimals = false;
    }
    this.#decimals = decimals;
  }

  /** How the column was rounded; undefined where nothing shows that it was. */
  rounding(): LogRounding | undefined {
    if (this.#count === 0) return undefined;
    if (this.#sameDecimals && this.#decimals !== undefined) return { decimals: this.#decimals };
    if (this.#allQuoted) return { digits: Math.max(this.#mostDigits, LEAST_DIGITS) };
    return undefined;
  }
}
