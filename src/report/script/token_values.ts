/** The values of one token in words: exact, and what they are. */
import type { LogProbSide } from "../../tokens/token_batch.ts";
import { type Quantity, valueOf } from "./token_quantities.ts";
import type { ShownToken } from "./token_sequence.ts";

const LOG_PROB_NAMES: Readonly<Record<LogProbSide, string>> = {
  sampler: "log p, sampler",
  old: "log p, old policy",
  trainer: "log p, trainer",
  reference: "log p, reference",
};

/** Digits of what is computed from 32-bit numbers: the further ones are rounding. */
const COMPUTED_DIGITS = 5;

/** The shortest decimal that is this 32-bit number and no other. */
function exactNumber(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** A number of the dump. What is missing is not a NaN of the dump. */
function givenLine(name: string, value: number, token: ShownToken): (readonly [string, string])[] {
  if (Number.isNaN(value)) return token.isNonFinite ? [[name, "NaN or missing"]] : [];
  return [[name, exactNumber(value)]];
}

/** A number that is computed here. */
function computedLine(quantity: Quantity, token: ShownToken): (readonly [string, string])[] {
  const value = valueOf(quantity, token);
  if (Number.isNaN(value)) return [];
  return [[quantity, String(Number(value.toPrecision(COMPUTED_DIGITS)))]];
}

function yesOrNo(name: string, value: boolean | undefined): (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value ? "yes" : "no"]];
}

/** A token's text on one line: blanks, line feeds and tabs are marked. */
export function markedText(text: string): string {
  return text === "" ? "∅" : text.replaceAll("\n", "↵").replaceAll("\t", "⇥").replaceAll(" ", "␣");
}

/**
 * All that is known of a token.
 *
 * @param word Its text, where it is known.
 * @returns Names and values.
 */
export function valueLines(
  token: ShownToken,
  word: string | undefined,
): (readonly [string, string])[] {
  const sides = Object.entries(token.logProbs) as [LogProbSide, number][];
  const { index, id, position, version, role, isTrained, isSampled, findings } = token;
  return [
    ["token", `${index}${position === undefined ? "" : `, position ${position}`}`],
    ["id", String(id)],
    ...(word === undefined ? [] : [["text", markedText(word)] as const]),
    ...findings.map((finding) => ["finding", finding] as const),
    ...(role === undefined ? [] : [["role", role] as const]),
    ...yesOrNo("trained", isTrained),
    ...yesOrNo("sampled", isSampled),
    ...sides.flatMap(([side, value]) => givenLine(LOG_PROB_NAMES[side], value, token)),
    ...computedLine("gap", token),
    ...computedLine("ratio", token),
    ...computedLine("probability", token),
    ...givenLine("entropy", token.entropy, token),
    ...givenLine("advantage", token.advantage, token),
    ...(version === undefined ? [] : [["weights", `version ${version}`] as const]),
  ];
}
