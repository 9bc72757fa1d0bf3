/** Writes sequences as rows of the common token dump. */
import { SIDE_KEYS } from "./common_dump.ts";
import type { CommonDumpRow } from "./common_dump_row.ts";
import {
  LOG_PROB_SIDES,
  TOKEN_ROLES,
  type TokenRole,
  type TokenSequence,
  type TokenValues,
} from "./token_batch.ts";

const LETTERS = {
  system: "s",
  user: "u",
  assistant: "a",
  tool: "t",
  other: "o",
} as const satisfies Record<TokenRole, string>;

/** A number as JSON, where what is not finite is a text. The sign of zero stays. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return Object.is(value, -0) ? "-0" : String(value);
}

const integersText = (values: ArrayLike<number>) => `[${Array.from(values).join()}]`;

function valuesText({ values, nonFinite }: TokenValues): string {
  const texts = Array.from(values, (value) => Number.isNaN(value) ? "null" : numberText(value));
  for (const token of nonFinite) texts[token] = numberText(values[token]);
  return `[${texts.join()}]`;
}

function rolesText(roles: Uint8Array): string {
  return `[${Array.from(roles, (role) => `"${LETTERS[TOKEN_ROLES[role]]}"`).join()}]`;
}

function rewardPartsText(parts: ReadonlyMap<string, number>): string {
  const entries = Array.from(
    parts,
    ([name, value]) => `${JSON.stringify(name)}:${numberText(value)}`,
  );
  return `{${entries.join()}}`;
}

/** Fields and their texts as an object, without those that are undefined. */
function objectText(texts: Readonly<Record<string, string | undefined>>): string {
  const there = Object.entries(texts).filter(([, text]) => text !== undefined);
  return `{${there.map(([key, text]) => `"${key}":${text}`).join()}}`;
}

/**
 * A sequence as a row of the common dump; read again it is the same but for where it stands.
 *
 * @returns One line of JSON, without its line feed.
 */
export function commonDumpLine(sequence: TokenSequence): string {
  const { loss, padding, stop, rewardParts, roles, advantage, advantages } = sequence;
  const as = <T>(value: T | undefined, write: (value: T) => string) =>
    value === undefined ? undefined : write(value);
  const plain = (value: unknown) => value === undefined ? undefined : JSON.stringify(value);
  const values = (found: TokenValues | undefined) => as(found, valuesText);
  const lossText = loss && objectText({
    agg: plain(loss.aggregation),
    denom: as(loss.denominator, numberText),
  });
  const sides = LOG_PROB_SIDES.map((side) => [SIDE_KEYS[side], values(sequence.logProbs[side])]);
  const row = {
    v: "1",
    run: plain(sequence.run),
    env: plain(sequence.environment),
    step: plain(sequence.step),
    phase: plain(sequence.phase),
    rank: plain(sequence.rank),
    mb: plain(sequence.microBatch),
    pack_row: plain(sequence.packingRow),
    pack_at: sequence.offset === 0 ? undefined : plain(sequence.offset),
    pad: plain(padding),
    group: plain(sequence.group),
    sample: plain(sequence.sample),
    reward: as(sequence.reward, numberText),
    reward_parts: as(rewardParts, rewardPartsText),
    stop: plain(stop === "end" ? "eos" : stop),
    stop_text: plain(sequence.stopText),
    temp: plain(sequence.temperature),
    top_p: plain(sequence.topP),
    loss: lossText,
    prompt: plain(sequence.prompt),
    answer: plain(sequence.answer),
    answer_len: plain(sequence.answerLength),
    ids: integersText(sequence.ids),
    pos: as(sequence.positions, integersText),
    mask: as(sequence.mask, integersText),
    sampled: as(sequence.sampled, integersText),
    role: as(roles, rolesText),
    ...Object.fromEntries(sides),
    entropy: values(sequence.entropy),
    adv: advantage === undefined ? values(advantages) : numberText(advantage),
    ver: as(sequence.weightVersions, integersText),
  } satisfies { readonly [key in keyof CommonDumpRow]?: string | undefined };
  return objectText(row);
}
