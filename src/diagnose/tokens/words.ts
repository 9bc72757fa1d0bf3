/** Numbers of tokens, chances and log-probs as sentences say them. */
import { withDigits } from "../../core/digits.ts";

/** A number with three digits; counts whole. */
export function say(value: number): string {
  return Number.isInteger(value) ? String(value) : withDigits(value, 3);
}

/** `1 token`, `12 tokens`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a chance of less than 1 in 10^9`. */
export function sayChance(chance: number): string {
  const power = Math.min(300, Math.floor(-Math.log10(chance)));
  return `a chance of less than 1 in ${power <= 3 ? 10 ** power : `10^${power}`}`;
}
