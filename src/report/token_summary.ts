/** One sequence of a dump in a few numbers: what it is called, what it earned, and the token in it to look at first. */
import type { Finding } from "../diagnose/finding.ts";
import type { StopReason, TokenSequence, TokenValues } from "../tokens/token_batch.ts";
import { gapSides, probabilitySide } from "./script/token_quantities.ts";

/** A sequence in a few numbers. */
export interface SequenceSummary {
  /** Its number in the dump, from 1. */
  readonly key: string;
  /** Its place in the dump, for headings and links. */
  readonly title: string;
  readonly step?: number;
  readonly environment?: string;
  readonly sample?: string;
  readonly group?: string;
  /** Tells groups of one name in several steps apart; undefined where the dump names no group. */
  readonly groupKey?: string;
  readonly reward?: number;
  readonly stop?: StopReason;
  readonly tokenCount: number;
  /** Undefined without a mask. */
  readonly trainedCount: number | undefined;
  /** Over the trained tokens. */
  readonly advantage?: { readonly mean: number; readonly low: number; readonly high: number };
  /** Of the trained tokens, without signs, in nats. */
  readonly gap?: { readonly worst: number; readonly mean: number };
  /** Tokens at which the dump holds a NaN or an infinity. */
  readonly nonFinite: number;
  /** The token to look at first. */
  readonly focus: number;
  /** 2: something violated points to it, 1: something suspect. */
  readonly severity: 0 | 1 | 2;
  /** The larger, the earlier it is shown, among those of one severity. */
  readonly badness: number;
}

/** Indices of the tokens that count: the trained ones, without a mask the sampled ones, else all. */
export function countedTokens({ ids, mask, sampled }: TokenSequence): (i: number) => boolean {
  const flags = mask ?? sampled;
  return flags ? (i) => flags[i] === 1 : (i) => i >= 0 && i < ids.length;
}

/** The gap of each token in nats, as {@linkcode gapSides} takes it; undefined where there are no two sides. */
export function gapsOf({ logProbs }: TokenSequence): ((i: number) => number) | undefined {
  const sides = gapSides((side) => logProbs[side] !== undefined);
  if (sides === undefined) return undefined;
  const [base = [], against = []] = sides.map((side) => logProbs[side]?.values);
  return (i) => against[i] - base[i];
}

interface Extremes {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly lowAt: number;
  readonly highAt: number;
}

/** Mean and extremes of the counted tokens that have a value; undefined where none has. */
function extremesOf(
  valueOf: (i: number) => number,
  { count, counts }: { readonly count: number; readonly counts: (i: number) => boolean },
): Extremes | undefined {
  let [n, sum, lowAt, highAt] = [0, 0, -1, -1];
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    if (!counts(i)) continue;
    const value = valueOf(i);
    if (!Number.isFinite(value)) continue;
    n++;
    sum += value;
    if (value < low) [low, lowAt] = [value, i];
    if (value > high) [high, highAt] = [value, i];
  }
  // Equal values have no rounding: their mean is that value.
  return n === 0 ? undefined : { mean: low === high ? low : sum / n, low, high, lowAt, highAt };
}

/** Tokens with a NaN or an infinity, in ascending order. */
function nonFiniteTokens({ logProbs, entropy, advantages }: TokenSequence): number[] {
  const all: (TokenValues | undefined)[] = [...Object.values(logProbs), entropy, advantages];
  return [...new Set(all.flatMap((values) => values?.nonFinite ?? []))].sort((a, b) => a - b);
}

function titleOf({ file, row, offset, step, phase, sample }: TokenSequence): string {
  const name = file.split("/").at(-1) ?? file;
  return [
    `${name}, row ${row}${offset > 0 ? ` from token ${offset}` : ""}`,
    ...(step === undefined ? [] : [`step ${step}`]),
    ...(phase === undefined ? [] : [phase === "pre" ? "before the update" : "after the update"]),
    ...(sample === undefined ? [] : [`sample ${sample}`]),
  ].join(" · ");
}

function severityOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ class: kind }) => kind === "violated")) return 2;
  return findings.some(({ class: kind }) => kind === "suspect") ? 1 : 0;
}

/** The token that the gravest finding points to. */
function tokenOf(findings: readonly Finding[]): number | undefined {
  const grave = findings.find(({ class: kind }) => kind === "violated") ??
    findings.find(({ class: kind }) => kind === "suspect") ?? findings[0];
  return grave?.at?.token;
}

/**
 * A sequence in a few numbers.
 *
 * @param options.index Its number in the dump, from 0.
 * @param options.findings What points to it.
 */
export function summaryOf(
  sequence: TokenSequence,
  { index, findings }: { readonly index: number; readonly findings: readonly Finding[] },
): SequenceSummary {
  const { ids, mask, group, step, phase, environment, sample, reward, stop } = sequence;
  const counts = countedTokens(sequence);
  const within = { count: ids.length, counts };
  const gapAt = gapsOf(sequence);
  const gap = gapAt && extremesOf((i) => Math.abs(gapAt(i)), within);
  const side = probabilitySide((name) => sequence.logProbs[name] !== undefined);
  const likely = side && sequence.logProbs[side]?.values;
  const logp = likely && extremesOf((i) => likely[i], within);
  const { advantages } = sequence;
  const advantage = advantages && extremesOf((i) => advantages.values[i], within);
  const nonFinite = nonFiniteTokens(sequence);
  const firstCounted = ids.findIndex((_, i) => counts(i));
  const focus = tokenOf(findings) ?? nonFinite[0] ?? gap?.highAt ?? logp?.lowAt ??
    Math.max(0, firstCounted);
  return {
    key: String(index + 1),
    title: titleOf(sequence),
    ...(step !== undefined && { step }),
    ...(environment !== undefined && { environment }),
    ...(sample !== undefined && { sample }),
    ...(group !== undefined && { group, groupKey: JSON.stringify([step, phase, group]) }),
    ...(reward !== undefined && { reward }),
    ...(stop !== undefined && { stop }),
    tokenCount: ids.length,
    trainedCount: mask?.reduce((sum, trained) => sum + trained, 0),
    ...(advantage && { advantage }),
    ...(gap && { gap: { worst: gap.high, mean: gap.mean } }),
    nonFinite: nonFinite.length,
    focus: Math.min(focus, Math.max(0, ids.length - 1)),
    severity: severityOf(findings),
    // A log-prob is not a gap: where only one engine was asked, the least likely token orders sequences.
    badness: nonFinite.length > 0 ? Infinity : gap?.high ?? -(logp?.low ?? 0),
  };
}
