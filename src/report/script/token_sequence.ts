/** A sequence of a token page with its arrays unpacked, token by token. */
import type { LogProbSide, TokenRole } from "../../tokens/token_batch.ts";
import type { PackedSequence } from "../token_payload.ts";
import { unpackFloats, unpackIds, unpackRuns } from "./token_columns.ts";
import type { TokenFacts } from "./token_quantities.ts";

/** As src/tokens/token_batch.ts orders them. */
const ROLE_NAMES: readonly TokenRole[] = ["system", "user", "assistant", "tool", "other"];

/** A token with its place; the rest is left out where the dump does not tell it. */
export interface ShownToken extends TokenFacts {
  /** From the first token of the sequence. */
  readonly index: number;
  readonly id: number;
  readonly position: number | undefined;
  readonly version: number | undefined;
  /** True where the dump holds a NaN or an infinity. */
  readonly isNonFinite: boolean;
  /** Ids of findings that point to it. */
  readonly findings: readonly string[];
}

/** The kept tokens of a sequence. */
export function tokensOf(sequence: PackedSequence): ShownToken[] {
  const { begin, count } = sequence;
  const runs = (packed: readonly number[] | undefined, slope: 0 | 1 = 0) =>
    packed && unpackRuns(packed, { count, slope });
  const floats = (packed: number | string | undefined) =>
    packed === undefined ? undefined : unpackFloats(packed, count);
  const ids = unpackIds(sequence.ids, count);
  const [mask, sampled, roles] = [sequence.mask, sequence.sampled, sequence.roles]
    .map((packed) => runs(packed));
  const versions = runs(sequence.versions);
  const positions = runs(sequence.positions, 1);
  const [entropy, advantages] = [floats(sequence.entropy), floats(sequence.advantages)];
  const sides = (Object.keys(sequence.logProbs) as LogProbSide[])
    .map((side) => [side, floats(sequence.logProbs[side])] as const);
  const nonFinite = new Set(sequence.nonFinite);
  const flag = (values: Int32Array | undefined, i: number) => values && values[i] === 1;
  return Array.from(ids, (id, i) => ({
    index: begin + i,
    id,
    position: positions?.[i],
    version: versions?.[i],
    isTrained: flag(mask, i),
    isSampled: flag(sampled, i),
    role: roles && ROLE_NAMES[roles[i]],
    logProbs: Object.fromEntries(sides.map(([side, values]) => [side, values?.[i] ?? NaN])),
    entropy: entropy?.[i] ?? NaN,
    advantage: advantages?.[i] ?? NaN,
    isNonFinite: nonFinite.has(i),
    findings: sequence.findings.filter(([token]) => token === begin + i).map(([, name]) => name),
  }));
}

/** Runs of tokens of one role: a turn each; all of them where no role is known. */
export function turnsOf(tokens: readonly ShownToken[]): (readonly ShownToken[])[] {
  const turns: ShownToken[][] = [];
  for (const [i, token] of tokens.entries()) {
    if (i > 0 && token.role === tokens[i - 1].role) turns[turns.length - 1].push(token);
    else turns.push([token]);
  }
  return turns;
}
