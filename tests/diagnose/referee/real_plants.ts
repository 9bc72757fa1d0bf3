/** What is planted in dumps of real decoders, and what the command is to say of each. */
import { command } from "../../../cli/commands/referee.ts";
import type { GapExplanation } from "../../../src/diagnose/referee/hypotheses.ts";
import {
  REFEREE_DOCUMENT,
  type RefereeDocument,
} from "../../../src/diagnose/referee/report_schema.ts";
import type { Commands } from "../../../src/gpu/commands.ts";
import { seededWeights } from "../../model/float64_decoder.ts";
import { type RandomConfig, VARIANTS } from "../../model/random_decoder.ts";
import { writeAdapter, writeModel } from "./real_models.ts";
import { type RealForm, type Stated, writeRealDump } from "./real_formats.ts";
import {
  alsoInBf16,
  damped,
  drawDump,
  exact,
  halfStale,
  inBf16,
  moved,
  noisy,
  padded,
  positionGap,
  processed,
  type RealDump,
  type RealSide,
  type RealSides,
  roundedLogits,
  type Sampling,
  shifted,
  someStale,
  stale,
  tokenBefore,
  truncated,
} from "./real_sides.ts";

type Cause = GapExplanation["cause"] | "agrees";

/** A plant: the sides of a dump, and the only answers that are right. */
export interface RealPlant {
  readonly sides: RealSides;
  readonly form?: RealForm;
  readonly stated?: Stated;
  readonly sampling?: Sampling;
  /** Folder of the reference: the model before so large a change. */
  readonly reference?: { readonly size: number };
  /** The model is a base with an adapter, and the base is the folder of the reference. */
  readonly hasAdapter?: true;
  /** Ids of findings that are violated or suspect. */
  readonly named: readonly string[];
  /** Ids of what is said to be not checkable. */
  readonly open?: readonly string[];
  /** Causes of each side that are right, the best first. */
  readonly causes: readonly (readonly Cause[])[];
}

const BF16: readonly Cause[] = ["bf16_noise", "f16_noise"];
const AGREES: readonly Cause[] = ["agrees"];
const OTHER: readonly Cause[] = ["other_weights_or_context", "unexplained"];
const CUT: readonly Cause[] = ["cut_distribution", "unexplained"];
const NOTHING: readonly Cause[] = ["unexplained"];

/** The model that training began with, as the dump's reference. */
const start = (size: number): RealSide => (sequence, dump) =>
  exact(sequence, { ...dump, weights: moved(dump.weights, dump.seed + 900, size) });

/** Another model of the same shape. */
const another: RealSide = (sequence, dump) =>
  noisy(sequence, { ...dump, weights: seededWeights(dump.config, dump.seed + 4321) });

/** The model before its adapter. */
const withoutAdapter: RealSide = (sequence, dump) =>
  noisy(sequence, { ...dump, weights: seededWeights(dump.config, dump.seed) });

export const REAL_PLANTS: Readonly<Record<string, RealPlant>> = {
  "healthy, f32": {
    sides: { sampler: exact, old: exact },
    named: [],
    causes: [AGREES, AGREES],
  },
  "healthy, two engines in bf16": {
    sides: { sampler: inBf16, old: alsoInBf16 },
    form: "nemo_rl",
    named: [],
    causes: [BF16, BF16],
  },
  "healthy, two engines in bf16, unlikely tokens": {
    sides: { sampler: inBf16, old: alsoInBf16 },
    sampling: { isUniform: true },
    named: [],
    causes: [[...BF16, "unexplained"], [...BF16, "unexplained"]],
  },
  "old policy stale, sampler in bf16, unlikely tokens": {
    sides: { sampler: inBf16, old: stale(0.15) },
    sampling: { isUniform: true },
    named: ["old_off"],
    causes: [[...BF16, "unexplained"], OTHER],
  },
  "sampler's weights stale by as little as rounding": {
    sides: { sampler: stale(0.004), old: inBf16 },
    named: [],
    causes: [[...BF16, "unexplained"], BF16],
  },
  "sampler at T 0.97, old policy in bf16": {
    sides: { sampler: processed({ temperature: 0.97 }), old: inBf16 },
    sampling: { temperature: 0.97 },
    named: ["sampler_off"],
    causes: [["temperature"], BF16],
  },
  "healthy, bf16-sized noise": {
    sides: { sampler: noisy, trainer: noisy },
    form: "prime_rl",
    named: [],
    causes: [BF16, BF16],
  },
  "sampler at T 0.7": {
    sides: { sampler: processed({ temperature: 0.7 }), old: exact },
    sampling: { temperature: 0.7 },
    form: "nemo_rl",
    named: ["sampler_off"],
    causes: [["temperature"], AGREES],
  },
  "trainer at T 1.2, sampler in bf16": {
    sides: { sampler: inBf16, trainer: processed({ temperature: 1.2 }) },
    form: "prime_rl",
    named: ["trainer_off"],
    causes: [BF16, ["temperature"]],
  },
  "sampler's weights stale": {
    sides: { sampler: stale(0.15), old: exact },
    named: ["sampler_off"],
    causes: [OTHER, AGREES],
  },
  "old policy's weights stale, sampler in bf16": {
    sides: { sampler: inBf16, old: stale(0.15) },
    form: "nemo_rl",
    named: ["old_off"],
    causes: [BF16, OTHER],
  },
  "sampler's weights stale in half of the sequences": {
    sides: { sampler: someStale(0.15), old: noisy },
    named: ["sampler_off"],
    causes: [OTHER, BF16],
  },
  "sampler's weights change during the sequences": {
    sides: { sampler: halfStale(0.15), trainer: noisy },
    form: "prime_rl",
    named: ["sampler_off"],
    causes: [OTHER, BF16],
  },
  "sampler's logits rounded to bf16": {
    sides: { sampler: roundedLogits, old: exact },
    named: [],
    causes: [BF16, AGREES],
  },
  "trainer one token late": {
    sides: { sampler: noisy, trainer: shifted(-1) },
    form: "prime_rl",
    named: ["trainer_off"],
    causes: [BF16, ["shift"]],
  },
  "old policy one token early": {
    sides: { sampler: exact, old: shifted(1) },
    form: "nemo_rl",
    named: ["old_off"],
    causes: [AGREES, ["shift"]],
  },
  "old policy attends to padding": {
    sides: { sampler: noisy, old: padded },
    named: ["old_off"],
    causes: [BF16, ["padding"]],
  },
  "trainer's positions count the prompt's padding": {
    sides: { sampler: noisy, trainer: positionGap },
    named: ["trainer_off"],
    causes: [BF16, OTHER],
  },
  "sampler has another token before the prompt": {
    sides: { sampler: tokenBefore(1), old: noisy },
    named: ["sampler_off"],
    causes: [["context"], BF16],
  },
  "trainer lacks the first token": {
    sides: { sampler: noisy, trainer: truncated(1) },
    form: "prime_rl",
    named: ["trainer_off"],
    causes: [BF16, ["context"]],
  },
  "old policy lacks three tokens of the prompt": {
    sides: { sampler: exact, old: truncated(3) },
    named: ["old_off"],
    causes: [AGREES, OTHER],
  },
  "sampler damps unlikely tokens": {
    sides: { sampler: damped, old: noisy },
    named: ["sampler_off"],
    causes: [NOTHING, BF16],
  },
  "sampler's log-probs after top-p 0.8": {
    sides: { sampler: processed({ topP: 0.8 }), old: exact },
    sampling: { topP: 0.8 },
    named: ["sampler_off"],
    causes: [CUT, AGREES],
  },
  "sampler's log-probs after top-k 10": {
    sides: { sampler: processed({ topK: 10 }), trainer: noisy },
    sampling: { topK: 10 },
    form: "prime_rl",
    named: ["sampler_off"],
    causes: [CUT, BF16],
  },
  "sampler's log-probs at T 0.7 after top-p 0.8": {
    sides: { sampler: processed({ temperature: 0.7, topP: 0.8 }), old: exact },
    sampling: { temperature: 0.7, topP: 0.8 },
    named: ["sampler_off"],
    causes: [["temperature", ...CUT], AGREES],
  },
  "T 0.7 on both sides, as asked for": {
    sides: { sampler: processed({ temperature: 0.7 }), old: processed({ temperature: 0.7 }) },
    sampling: { temperature: 0.7 },
    stated: { temperature: 0.7 },
    named: [],
    causes: [AGREES, AGREES],
  },
  "raw log-probs of a sampler at T 0.7": {
    sides: { sampler: exact, old: processed({ temperature: 0.7 }) },
    sampling: { temperature: 0.7 },
    stated: { temperature: 0.7 },
    named: ["sampler_off"],
    causes: [["temperature"], AGREES],
  },
  "T 0.7 on both sides, not told": {
    sides: { sampler: processed({ temperature: 0.7 }), trainer: processed({ temperature: 0.7 }) },
    sampling: { temperature: 0.7 },
    form: "prime_rl",
    named: [],
    causes: [["temperature"], ["temperature"]],
  },
  "sampler at T 0.7 and old policy stale": {
    sides: { sampler: processed({ temperature: 0.7 }), old: stale(0.15) },
    sampling: { temperature: 0.7 },
    form: "nemo_rl",
    named: ["sampler_off", "old_off"],
    causes: [["temperature"], OTHER],
  },
  "another model on both sides": {
    sides: { sampler: another, old: another },
    form: "nemo_rl",
    named: [],
    open: ["sides_agree"],
    causes: [NOTHING, NOTHING],
  },
  "another model, sampler alone": {
    sides: { sampler: another },
    named: [],
    open: ["sides_agree"],
    causes: [NOTHING],
  },
  "another checkpoint on both sides": {
    sides: { sampler: stale(0.25), trainer: stale(0.25) },
    form: "prime_rl",
    named: [],
    open: ["sides_agree"],
    causes: [OTHER, OTHER],
  },
  "reference is where training began": {
    sides: { old: noisy, reference: start(0.2) },
    reference: { size: 0.2 },
    named: [],
    causes: [BF16, AGREES],
  },
  "sampler has the reference's weights": {
    sides: { sampler: start(0.2), old: noisy, reference: start(0.2) },
    reference: { size: 0.2 },
    named: ["sampler_off"],
    causes: [["other_folder"], BF16, AGREES],
  },
  "old policy leaves the adapter out": {
    sides: { sampler: noisy, old: withoutAdapter },
    hasAdapter: true,
    named: ["old_off"],
    causes: [BF16, ["other_folder"]],
  },
  "reference is the policy": {
    sides: { old: exact, reference: noisy },
    reference: { size: 0.2 },
    named: ["reference_off", "reference_is_not_start"],
    causes: [AGREES, ["other_folder"]],
  },
  "reference is another checkpoint": {
    sides: { old: exact, reference: stale(0.3) },
    reference: { size: 0.2 },
    named: ["reference_off"],
    causes: [AGREES, OTHER],
  },
};

const ARCHITECTURES = ["qwen3", "llama3_scaled", "qwen2", "llama"] as const;

/** What the command said of a planted dump. */
export interface RealVerdict {
  readonly document: RefereeDocument;
  readonly found: readonly Cause[];
  readonly named: readonly string[];
  /** The sides that were planted are named, and no others. */
  readonly isNamed: boolean;
  /** A side or a reference is accused that is right. */
  readonly isWrong: boolean;
  readonly isExplained: boolean;
  readonly isMisexplained: boolean;
}

const FLAGS = { json: false, seed: 0, help: false, strict: false, requireGpu: false };

/**
 * Plants into a dump of a seed, and runs the command on it.
 *
 * @param options.folder Where model and dump are written.
 * @param options.count Sequences (default 12).
 */
export async function judgeReal(
  name: string,
  seed: number,
  { folder, commands, count }: {
    readonly folder: string;
    readonly commands: Commands;
    readonly count?: number;
  },
): Promise<RealVerdict> {
  const plant = REAL_PLANTS[name]!;
  const config: RandomConfig = VARIANTS[ARCHITECTURES[seed % ARCHITECTURES.length]!];
  const base = seededWeights(config, seed);
  const adapter = plant.hasAdapter && `${folder}/adapter`;
  const weights = adapter === undefined
    ? base
    : writeAdapter(adapter, { config, weights: base, seed });
  const { sampling, sides, form = "common_dump", stated } = plant;
  const dump: RealDump = drawDump({ config, weights, seed }, {
    ...sampling,
    ...(count !== undefined && { count }),
  });
  const model = `${folder}/model`;
  writeModel(model, config, base);
  const tokens = writeRealDump(folder, { dump, sides, form, ...(stated && { stated }) });
  const reference = plant.reference ? `${folder}/start` : plant.hasAdapter && model;
  if (plant.reference) {
    writeModel(`${folder}/start`, config, moved(weights, seed + 900, plant.reference.size));
  }
  const outcome = await command.run(
    {
      ...FLAGS,
      model,
      tokens,
      ...(reference !== undefined && { reference }),
      ...(adapter !== undefined && { adapter }),
    },
    [],
    { openCommands: () => Promise.resolve(commands) },
  );
  const document = REFEREE_DOCUMENT.parse(outcome.document);
  const of = (...classes: string[]) =>
    document.findings.filter((finding) => classes.includes(finding.class)).map(({ id }) => id);
  const named = of("violated", "suspect");
  const found = document.sides.map(({ explainedBy }) => explainedBy?.cause ?? "agrees");
  const open = plant.open?.every((id) => of("not-checkable").includes(id)) ?? true;
  return {
    document,
    found,
    named,
    isNamed: named.join() === plant.named.join() && open,
    isWrong: named.some((id) => !plant.named.includes(id)),
    isExplained: found.every((cause, n) => plant.causes[n]!.includes(cause)),
    isMisexplained: found.some((cause, n) =>
      cause !== "unexplained" && !plant.causes[n]!.includes(cause)
    ),
  };
}
