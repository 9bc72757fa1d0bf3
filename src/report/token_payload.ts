/** What the page's script reads of a token page: sequences as small as JSON can hold them without losing a digit of 32-bit numbers. */
import { LOG_PROB_SIDES, type LogProbSide } from "../tokens/token_batch.ts";
import type { Attachment, Html } from "./html.ts";
import type { TokenDigest } from "./token_digest.ts";
import type { KeptSequence } from "./token_keep.ts";

/** A number that all tokens have, or base64 of one 32-bit number a token in little-endian order; NaN where there is none. */
type PackedFloats = number | string;

/** Runs of equal values: value and length in turn. */
type PackedRuns = readonly number[];

/** A sequence, or the part of it that is kept. What the dump does not tell is left out. */
export interface PackedSequence {
  /** Ends the id of its element: `ID-sequence-KEY`. */
  readonly key: string;
  /** What stands above it: its place in the dump, its names, what it earned. */
  readonly title: string;
  readonly step?: number;
  /** Index into the groups of the page. */
  readonly group?: number;
  readonly environment?: string;
  readonly reward?: number;
  readonly stop?: string;
  /** Mean over the trained tokens. */
  readonly advantage?: number;
  /** Largest and mean gap of the trained tokens, without their signs. */
  readonly worstGap?: number;
  readonly meanGap?: number;
  /** Tokens of the whole sequence, the first one kept, how many are, and the one to look at first. */
  readonly length: number;
  readonly begin: number;
  readonly count: number;
  readonly focus: number;
  readonly ids: string;
  readonly mask?: PackedRuns;
  readonly sampled?: PackedRuns;
  readonly roles?: PackedRuns;
  readonly versions?: PackedRuns;
  /** Runs of positions that rise by one: the first and the length in turn. Left out where they count the tokens. */
  readonly positions?: PackedRuns;
  readonly logProbs: { readonly [side in LogProbSide]?: PackedFloats };
  readonly entropy?: PackedFloats;
  readonly advantages?: PackedFloats;
  /** Tokens, from the first kept one, at which the dump holds a NaN or an infinity. */
  readonly nonFinite: readonly number[];
  /** What is said about it: the token, from the first one of the sequence, and the ids of findings. */
  readonly findings: readonly (readonly [number, string])[];
  readonly prompt?: string;
  readonly answer?: string;
}

/** A token page's data. */
export interface TokenPayload {
  readonly id: string;
  /** Texts of ids; those without one are shown as numbers. */
  readonly words: Readonly<Record<number, string>>;
  /** Of the dump, without its sign; above 0. */
  readonly largestAdvantage: number;
  /** Their names. */
  readonly groups: readonly string[];
  /** The worst first. */
  readonly sequences: readonly PackedSequence[];
}

/** The data of a token page as the attachment of the markup that shows it. */
interface TokenAttachment extends Attachment {
  readonly kind: "tokens";
  readonly payload: TokenPayload;
}

/** Markup with the data that it shows. */
export function withTokens(view: Html, payload: TokenPayload): Html {
  const attachment: TokenAttachment = { kind: "tokens", id: payload.id, payload };
  return { ...view, attachments: [...view.attachments, attachment] };
}

/** The data of the token pages that are in some markup. */
export function tokenPayloadsOf({ attachments }: Html): TokenPayload[] {
  return attachments.filter(({ kind }) => kind === "tokens")
    .map((attachment) => (attachment as TokenAttachment).payload);
}

function base64Of(bytes: Uint8Array): string {
  return bytes.toBase64();
}

function packFloats(values: ArrayLike<number>): PackedFloats {
  const first = values[0] ?? 0;
  if (Number.isFinite(first) && Math.fround(first) === first) {
    if (Array.prototype.every.call(values, (value) => Object.is(value, first))) return first;
  }
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (let i = 0; i < values.length; i++) view.setFloat32(4 * i, values[i], true);
  return base64Of(new Uint8Array(view.buffer));
}

function packIds(ids: Uint32Array): string {
  const view = new DataView(new ArrayBuffer(4 * ids.length));
  ids.forEach((id, i) => view.setUint32(4 * i, id, true));
  return base64Of(new Uint8Array(view.buffer));
}

/** @param slope What is added from one to the next within a run. */
function packRuns(values: ArrayLike<number>, slope: 0 | 1 = 0): PackedRuns {
  const runs: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const last = runs.length - 2;
    if (last >= 0 && values[i] === runs[last] + slope * runs[last + 1]) runs[last + 1]++;
    else runs.push(values[i], 1);
  }
  return runs;
}

/** Positions that count the tokens from 0 need not be said. */
function packPositions(positions: Uint32Array, begin: number): PackedRuns | undefined {
  const runs = packRuns(positions, 1);
  return runs.length === 2 && runs[0] === begin ? undefined : runs;
}

function packSequence(kept: KeptSequence, groups: ReadonlyMap<string, number>): PackedSequence {
  const { summary, begin, tokens, findings } = kept;
  const { key, title, step, groupKey, environment, reward, stop, gap, advantage } = summary;
  const { ids, mask, sampled, roles, weightVersions, positions, prompt, answer } = tokens;
  const { entropy, advantages, logProbs } = tokens;
  const packedPositions = positions && packPositions(positions, begin);
  const group = groupKey === undefined ? undefined : groups.get(groupKey);
  const sides = LOG_PROB_SIDES.flatMap((side) => {
    const values = logProbs[side]?.values;
    return values ? [[side, packFloats(values)] as const] : [];
  });
  const nonFinite = [...Object.values(logProbs), entropy, advantages]
    .flatMap((values) => values?.nonFinite ?? []);
  return {
    key,
    title,
    ...(step !== undefined && { step }),
    ...(group !== undefined && { group }),
    ...(environment !== undefined && { environment }),
    // JSON has no other numbers.
    ...(reward !== undefined && Number.isFinite(reward) && { reward }),
    ...(stop !== undefined && { stop }),
    ...(advantage && { advantage: advantage.mean }),
    ...(gap && { worstGap: gap.worst, meanGap: gap.mean }),
    length: summary.tokenCount,
    begin,
    count: ids.length,
    focus: summary.focus,
    ids: packIds(ids),
    ...(mask && { mask: packRuns(mask) }),
    ...(sampled && { sampled: packRuns(sampled) }),
    ...(roles && { roles: packRuns(roles) }),
    ...(weightVersions && { versions: packRuns(weightVersions) }),
    ...(packedPositions && { positions: packedPositions }),
    logProbs: Object.fromEntries(sides),
    ...(entropy && { entropy: packFloats(entropy.values) }),
    ...(advantages && { advantages: packFloats(advantages.values) }),
    nonFinite: [...new Set(nonFinite)],
    findings: findings.map(({ id, at }) => [at?.token ?? summary.focus, id] as const),
    ...(prompt !== undefined && { prompt }),
    ...(answer !== undefined && { answer }),
  };
}

/**
 * Packs what a page shows.
 *
 * @param digest The dump.
 * @param id The page's; unique in the document.
 * @param words Texts of the ids that have one.
 */
export function tokenPayload(
  { kept, groups, largestAdvantage }: TokenDigest,
  { id, words }: { readonly id: string; readonly words: ReadonlyMap<number, string> },
): TokenPayload {
  const keys = new Set(kept.map(({ summary }) => summary.groupKey));
  const shown = groups.filter(({ key }) => keys.has(key));
  const indices = new Map(shown.map(({ key }, i) => [key, i] as const));
  return {
    id,
    words: Object.fromEntries(words),
    largestAdvantage,
    groups: shown.map(({ name }) => name),
    sequences: kept.map((sequence) => packSequence(sequence, indices)),
  };
}
