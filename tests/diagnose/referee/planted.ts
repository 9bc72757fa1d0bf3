/**
 * Dumps with one side broken on purpose, and what the referee says of each.
 *
 * deno run tests/diagnose/referee/planted.ts [SEEDS [NAME …]]
 */
import { referee } from "../../../src/diagnose/referee/referee.ts";
import type { LogProbSide, TokenSequence } from "../../../src/tokens/token_batch.ts";
import { makeNoise, type Noise } from "./noise.ts";
import {
  drawIds,
  perturbed,
  scorer,
  scoreToy,
  toBf16,
  type ToyModel,
  toyModel,
} from "./toy_model.ts";

const PROMPT = 6, ANSWER = 40, SEQUENCES = 16, PAD = 0;

/** A side's log-probs of a sequence; entry t is about token t + 1. */
type Side = (
  ids: Uint32Array,
  context: { model: ToyModel; noise: Noise; left: number; seed: number },
) => number[];

const exact: Side = (ids, { model }) => Array.from(scoreToy(model, ids).logp).map(Math.fround);
/** Like logits of two engines in bf16: to both sides, larger where the token is less likely. */
const noisyBy = (size: number): Side => (ids, { model, noise }) =>
  Array.from(
    scoreToy(model, ids).logp,
    (logp) => Math.min(0, logp + size * noise() * Math.sqrt(1 - Math.exp(logp))),
  );
const noisy = noisyBy(0.02);
const atTemperature = (T: number): Side => (ids, { model }) =>
  Array.from(scoreToy(model, ids, (logits) => logits.map((z) => z / T)).logp);
const stale = (size: number): Side => (ids, { model, seed }) =>
  Array.from(scoreToy(perturbed(model, seed + 7, size), ids).logp);
const bf16: Side = (ids, { model }) =>
  Array.from(scoreToy(model, ids, (logits) => logits.map(toBf16)).logp);
const shifted = (by: number): Side => (ids, context) => {
  const right = exact(ids, context);
  return right.map((_, t) => right[t + by] ?? -3);
};
const padded: Side = (ids, { model, left }) =>
  Array.from(scoreToy(model, [...new Array<number>(left).fill(PAD), ...ids]).logp).slice(left);
const damped: Side = (ids, { model }) =>
  Array.from(
    scoreToy(model, ids, (logits) => {
      const sorted = logits.toSorted((a, b) => b - a);
      return logits.map((z) => z >= sorted[4]! ? z : z - 3);
    }).logp,
  );

/** The sides that other tests plant. */
export const planted = { exact, noisy, stale, atTemperature } as const;

/** What is planted in a dump, and the ids and causes that are right. */
export const PLANTED: Readonly<
  Record<string, {
    readonly sides: Partial<Record<LogProbSide, Side>>;
    readonly ids: readonly string[];
    readonly causes: readonly (string | null)[];
    /** Spread of the logits' parts. */
    readonly spread?: number;
    /** Ids that the model does not draw, most of them unlikely. */
    readonly isUniform?: true;
  }>
> = {
  "sampler at T 0.6": {
    sides: { sampler: atTemperature(0.6), old: exact },
    ids: ["sampler_off"],
    causes: ["temperature", null],
  },
  "trainer at T 1.1, bf16 noise elsewhere": {
    sides: { sampler: noisy, trainer: atTemperature(1.1) },
    ids: ["trainer_off"],
    causes: ["bf16_noise", "temperature"],
  },
  "sampler's weights stale": {
    sides: { sampler: stale(0.15), old: exact },
    ids: ["sampler_off"],
    causes: ["other_weights_or_context", null],
  },
  "old policy's weights stale, bf16 noise elsewhere": {
    sides: { sampler: noisy, old: stale(0.3) },
    ids: ["old_off"],
    causes: ["bf16_noise", "other_weights_or_context"],
  },
  "sampler rounds its logits to bf16": {
    sides: { sampler: bf16, old: exact },
    ids: ["sampler_off"],
    causes: ["bf16_noise", null],
  },
  "sampler rounds logits around 40 to bf16": {
    sides: { sampler: bf16, old: exact },
    ids: ["sampler_off"],
    causes: ["bf16_noise", null],
    spread: 12,
    isUniform: true,
  },
  "trainer one token late": {
    sides: { sampler: exact, trainer: shifted(-1) },
    ids: ["trainer_off"],
    causes: [null, "shift"],
  },
  "sampler one token early, bf16 noise elsewhere": {
    sides: { sampler: shifted(1), old: noisy },
    ids: ["sampler_off"],
    causes: ["shift", "bf16_noise"],
  },
  "old policy attends to padding": {
    sides: { sampler: exact, old: padded },
    ids: ["old_off"],
    causes: [null, "padding"],
  },
  "sampler damps unlikely tokens": {
    sides: { sampler: damped, old: exact },
    ids: ["sampler_off"],
    causes: ["unexplained", null],
  },
  "all sides at T 0.6": {
    sides: { sampler: atTemperature(0.6), old: atTemperature(0.6) },
    ids: ["sides_agree"],
    causes: ["temperature", "temperature"],
  },
  "all sides of another checkpoint": {
    sides: { sampler: stale(0.3), old: stale(0.3) },
    ids: ["sides_agree"],
    causes: ["other_weights_or_context", "other_weights_or_context"],
  },
  "healthy, bf16 noise on both": {
    sides: { sampler: noisy, old: noisy },
    ids: ["sides_agree"],
    causes: ["bf16_noise", "bf16_noise"],
  },
  "healthy, bf16 noise of logits around 40 on both": {
    sides: { sampler: noisyBy(0.06), old: noisyBy(0.06) },
    ids: ["sides_agree"],
    causes: ["bf16_noise", "bf16_noise"],
    spread: 12,
    isUniform: true,
  },
  "healthy, f32": {
    sides: { sampler: exact, old: exact },
    ids: ["sides_agree"],
    causes: [null, null],
  },
};

/** The sequences of a dump. */
export function plantedDump(
  sides: Partial<Record<LogProbSide, Side>>,
  { model, seed, isUniform }: { model: ToyModel; seed: number; isUniform?: true | undefined },
): TokenSequence[] {
  const noise = makeNoise(seed + 1000);
  return Array.from({ length: SEQUENCES }, (_, row): TokenSequence => {
    const prompt = isUniform ? PROMPT + ANSWER : PROMPT;
    const answer = PROMPT + ANSWER - prompt;
    const ids = drawIds(model, { prompt, answer, seed: 100 * seed + row });
    const left = 1 + row % 5;
    const logProbs = Object.fromEntries(
      Object.entries(sides).map(([side, of]) => [side, {
        values: Float64Array.of(NaN, ...of(ids, { model, noise, left, seed })),
        nonFinite: [],
      }]),
    );
    const mask = Uint8Array.from(ids, (_, i) => Number(i >= PROMPT));
    return {
      file: "dump.jsonl",
      row: row + 1,
      offset: 0,
      ids,
      mask,
      logProbs,
      padding: { left, right: 0 },
    };
  });
}

/** What the referee says of a planted dump. */
export async function judgePlanted(name: string, seed: number) {
  const { sides, ids, causes, spread, isUniform } = PLANTED[name]!;
  const model = toyModel(seed, spread);
  const sequences = plantedDump(sides, { model, seed, isUniform });
  const report = await referee({ sequences, score: scorer(model), padIds: [5, PAD] });
  const found = report.sides.map(({ explainedBy }) => explainedBy?.cause ?? null);
  const said = report.findings.map(({ id }) => id);
  return {
    report,
    isNamed: said.join() === ids.join(),
    isExplained: found.join() === causes.join(),
    found,
    said,
  };
}

if (import.meta.main) {
  const seeds = Number(Deno.args[0] ?? 10);
  console.log("| planted | named | explained | gap of each side, nats | verdict of seed 0 |");
  console.log("| --- | --- | --- | --- | --- |");
  const asked = Deno.args.slice(1);
  for (const name of asked.length > 0 ? asked : Object.keys(PLANTED)) {
    let named = 0, explained = 0, verdict = "";
    const gaps: number[][] = [];
    for (let seed = 0; seed < seeds; seed++) {
      const { report, isNamed, isExplained, found, said } = await judgePlanted(name, seed);
      named += Number(isNamed);
      explained += Number(isExplained);
      if (!isNamed || !isExplained) console.error(name, seed, said, found, report.verdict);
      if (seed === 0) verdict = report.verdict;
      gaps.push(report.sides.map(({ figures }) => figures.meanNats));
    }
    const means = gaps[0]!.map((_, i) =>
      (gaps.reduce((sum, gap) => sum + gap[i]!, 0) / seeds).toPrecision(2)
    );
    console.log(
      `| ${name} | ${named} of ${seeds} | ${explained} of ${seeds} | ${
        means.join(", ")
      } | ${verdict} |`,
    );
  }
}
