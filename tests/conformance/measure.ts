/** What is compared between drivers and compilers; runs in Deno and in a page, so it knows neither files nor processes. */
import { checkUpdatePass, type UpdateErrors } from "../../src/bench/update_check.ts";
import { OWNER } from "../../src/core/owner.ts";
import { STREAM } from "../../src/core/rng.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { Commands } from "../../src/gpu/commands.ts";
import type { Arithmetic } from "../../src/gpu/arithmetic.ts";
import type { OperandMemory } from "../../src/gpu/kernel.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { selfTest } from "../../src/gpu/self_test.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import {
  createParameters,
  fromTensors,
  hashWeights,
  type Parameters,
  readParameters,
} from "../../src/model/parameters.ts";
import { parseSafetensors } from "../../src/model/safetensors.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { metricsRow } from "../../src/rl/metrics.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { Decoder } from "../../src/rollout/decoder.ts";
import { rolloutResident } from "../../src/rollout/resident.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { prepareUpdatePass } from "../../src/tuning/update_pass.ts";
import { decoderScores } from "./measure_decoder.ts";

/** What an adapter computes of the sampler and of the forward pass, which is all of the short form. */
export interface ShortConformance {
  /** The adapter as it names itself. */
  readonly adapter: string;
  /** Where operands lie: a software adapter must be known as one, since a GPU's layout is slow there. */
  readonly layout: OperandMemory;
  /** Names of the self-test's checks that failed. */
  readonly selfTestFailures: readonly string[];
  /** What it makes of products and sums. */
  readonly arithmetic: Arithmetic;
  readonly episodes: {
    /** Log-probs of the sampler, over all episodes. */
    readonly tokens: number;
    /** Those that the forward does not find in the same bits. */
    readonly unlikeForward: number;
    /** Log-probs of episodes alone that have not the bits they have in the batch. */
    readonly unlikeAlone: number;
    readonly idsHash: string;
    readonly sampledHash: string;
    readonly forwardHash: string;
    /** The forward's entropies in nats, for tolerances between drivers. */
    readonly entropies: readonly number[];
  };
}

/** All that is measured. */
export interface Conformance extends ShortConformance {
  /** Against float64. */
  readonly update: UpdateErrors;
  /** Log-probs and entropies of a model of Qwen3's shape, in nats. */
  readonly decoder: { readonly hash: string; readonly scores: readonly number[] };
  /** How many invariants hold; others do not apply to this training. */
  readonly holdingInvariants: number;
  /** Names of the invariants that do not hold. */
  readonly violatedInvariants: readonly string[];
  readonly training: {
    readonly rewards: readonly number[];
    readonly gradientNorms: readonly number[];
    readonly largestGap: number;
    readonly weightsHash: string;
  };
}

/** Rows of the update, episodes that are played, and steps of GRPO: small, since a software driver in a page takes its time. */
const SIZES = { rowCount: 240, episodes: 24, alone: 4, steps: 4 } as const;
const MAX_TURNS = 3;
const CONFIG = { problems: 2, groupSize: 4, maxTurns: MAX_TURNS, klCoef: 0.1, evalEvery: 0 };

async function shortHash(values: Float32Array<ArrayBuffer>): Promise<string> {
  return (await hashWeights(values)).slice(0, 8);
}

async function measureEpisodes(
  commands: Commands,
  parameters: Parameters,
): Promise<ShortConformance["episodes"]> {
  const gym = compileGym(openGym(), "rl");
  const { maxEpisodeTokens: maxPositions } = bugFixSpec(gym.taskNames.length, MAX_TURNS);
  const decoder = new Decoder(commands, parameters, { maxPositions });
  const episodes = await rolloutResident(decoder, {
    gym,
    tasks_B: Array.from({ length: SIZES.episodes }, (_, b) => b % 20),
    maxTurns: MAX_TURNS,
    reward: "hidden",
    random: { seed: 1, stream: STREAM.experiment },
  });
  decoder.destroy();
  const ids_B = episodes.map(({ ids }) => ids);
  const score = (ids: readonly ArrayLike<number>[]) =>
    scoreEpisodes(commands, parameters, { ids_B: ids, temperature: 1, withLogits: false });
  const { logp_N, entropy_N } = await score(ids_B);
  let [row, tokens, unlikeForward, unlikeAlone] = [0, 0, 0, 0];
  for (const [b, { ids, owners, logps }] of episodes.entries()) {
    owners.forEach((owner, t) => {
      if (owner !== OWNER.policy) return;
      tokens++;
      unlikeForward += Number(logps[t] !== logp_N[row + t - 1]);
    });
    if (b < SIZES.alone) {
      const alone = await score([ids]);
      // Behind an episode's last token stands <pad> in both.
      alone.logp_N.forEach((logp, t) => unlikeAlone += Number(logp !== logp_N[row + t]));
    }
    row += ids.length;
  }
  return {
    tokens,
    unlikeForward,
    unlikeAlone,
    idsHash: await shortHash(Float32Array.from(ids_B.flatMap((ids) => [...ids]))),
    sampledHash: await shortHash(Float32Array.from(episodes.flatMap(({ logps }) => [...logps]))),
    forwardHash: await shortHash(Float32Array.from([...logp_N, ...entropy_N])),
    entropies: [...entropy_N],
  };
}

async function measureTraining(
  commands: Commands,
  weights_W: Float32Array<ArrayBuffer>,
): Promise<Pick<Conformance, "training" | "holdingInvariants" | "violatedInvariants">> {
  const setup = trainingSetup(commands, { config: resolveConfig({ flags: CONFIG }) });
  const checks = await runChecks(setup, { model: TINY_AGENT, weights_W });
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const trainer = new Trainer(setup, { parameters });
  const rows: { reward: number; grad_norm: number; logp_gap_max: number }[] = [];
  for (let step = 0; step < SIZES.steps; step++) {
    rows.push(metricsRow(await trainer.step()) as typeof rows[number]);
  }
  const weightsHash = await shortHash(await readParameters(commands, parameters));
  trainer.destroy();
  return {
    holdingInvariants: checks.filter(({ verdict }) => verdict === "holds").length,
    violatedInvariants: violated(checks).map(({ name }) => name),
    training: {
      rewards: rows.map(({ reward }) => reward),
      gradientNorms: rows.map(({ grad_norm }) => grad_norm),
      largestGap: Math.max(...rows.map(({ logp_gap_max }) => logp_gap_max)),
      weightsHash,
    },
  };
}

/** The default adapter, and the golden agent's weights. */
async function prepare(checkpoint: Uint8Array<ArrayBuffer>) {
  const commands = new Commands(await openGpu());
  const { tensors } = parseSafetensors(checkpoint, "model.safetensors");
  return { commands, weights_W: fromTensors(TINY_AGENT, tensors) };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function measureSampling({ commands, weights_W }: Prepared): Promise<ShortConformance> {
  const { adapter, tuning } = commands.gpu;
  const { checks, arithmetic } = await selfTest(commands.gpu);
  const failures = checks.filter(({ ok }) => !ok);
  return {
    adapter: adapter.description,
    layout: tuning.operandMemory,
    selfTestFailures: failures.map(({ name }) => name),
    arithmetic,
    episodes: await measureEpisodes(commands, createParameters(commands, TINY_AGENT, weights_W)),
  };
}

/**
 * The self-test, and episodes by the sampler and by the forward pass.
 * @param checkpoint The golden agent, as safetensors.
 */
export async function measureShort(
  checkpoint: Uint8Array<ArrayBuffer>,
): Promise<ShortConformance> {
  return await measureSampling(await prepare(checkpoint));
}

/**
 * Runs everything on the default adapter.
 * @param checkpoint The golden agent, as safetensors.
 */
export async function measure(checkpoint: Uint8Array<ArrayBuffer>): Promise<Conformance> {
  const prepared = await prepare(checkpoint);
  const { commands, weights_W } = prepared;
  const scores = await decoderScores(commands);
  return {
    decoder: { hash: await shortHash(scores), scores: [...scores] },
    ...await measureSampling(prepared),
    update: await checkUpdatePass(prepareUpdatePass(commands, { rowCount: SIZES.rowCount })),
    ...await measureTraining(commands, weights_W),
  };
}
