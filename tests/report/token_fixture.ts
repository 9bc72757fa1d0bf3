/** A token dump made by hand: groups with rewards and advantages, two engines that differ by what a test says, hostile names. */
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { TokenCollector } from "../../src/report/token_digest.ts";
import { type TokenData, wordsOf } from "../../src/report/token_data.ts";
import { type Finding, sayFinding } from "../../src/diagnose/finding.ts";
import { HOSTILE } from "./fixture.ts";

/** Texts of the ids of {@linkcode sequenceOf}; 0 has none. */
export const TEXTS = ["", "<|user|>", "Fix", " the", "\n", "\tbug", HOSTILE, "\u202eevil", " done"];

const valuesOf = (length: number, at: (i: number) => number) => ({
  values: Float64Array.from({ length }, (_, i) => at(i)),
  nonFinite: [],
});

/** Sequence `n` of a dump in groups of four: 12 prompt tokens, 24 answer tokens of which all but the last are trained. */
export function sequenceOf(n: number, changes: Partial<TokenSequence> = {}): TokenSequence {
  const length = 36;
  const isAnswer = (i: number) => i >= 12;
  const sampler = (i: number) => isAnswer(i) ? -((i * 7 + n * 3) % 11) / 10 : NaN;
  const gap = (i: number) => ((i * 5 + n) % 7 - 3) / 200;
  return {
    file: "dump/step_3.jsonl",
    row: n + 1,
    offset: 0,
    step: 3,
    environment: "bugfix",
    group: `g${Math.floor(n / 4)}`,
    sample: `g${Math.floor(n / 4)}.${n % 4}`,
    ids: Uint32Array.from({ length }, (_, i) => i % 9),
    mask: Uint8Array.from({ length }, (_, i) => isAnswer(i) && i < length - 1 ? 1 : 0),
    sampled: Uint8Array.from({ length }, (_, i) => isAnswer(i) ? 1 : 0),
    roles: Uint8Array.from({ length }, (_, i) => i < 4 ? 0 : i < 12 ? 1 : i < 28 ? 2 : 3),
    logProbs: {
      sampler: valuesOf(length, sampler),
      trainer: valuesOf(length, (i) => sampler(i) + gap(i)),
    },
    entropy: valuesOf(length, (i) => (i % 5) / 2),
    advantages: valuesOf(length, () => n % 4 === 0 ? 1.5 : -0.5),
    reward: n % 4 === 0 ? 1 : 0,
    stop: n % 3 === 0 ? "length" : "end",
    ...changes,
  };
}

/** A dump's data for a page. */
export function dataOf(
  sequences: readonly TokenSequence[],
  options: { readonly findings?: readonly Finding[]; readonly maxBytes?: number } = {},
): TokenData {
  const collector = new TokenCollector(options);
  for (const sequence of sequences) collector.add(sequence);
  const digest = collector.finish();
  return {
    name: "dump",
    source: {
      path: "dump",
      form: "common",
      producer: undefined,
      files: ["dump/step_3.jsonl"],
      ignored: [],
    },
    findings: (options.findings ?? []).map((finding) => sayFinding(finding)),
    digest,
    words: wordsOf(digest, (id) => TEXTS[id] || undefined),
  };
}
