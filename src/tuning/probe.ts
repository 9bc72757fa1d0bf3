/** Which layout of the kernels is fastest here: each plays episodes and trains on a device of its own, in interleaved rounds. */
import { BENCH_ROWS, benchDecoder, playEpisodes } from "./workload.ts";
import { UserError } from "../core/errors.ts";
import { median } from "../core/statistics.ts";
import { Commands } from "../gpu/commands.ts";
import type { Gpu } from "../gpu/device.ts";
import type { Tuning } from "../gpu/tuning.ts";
import { type CompiledGym, compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { TINY_AGENT } from "../model/config.ts";
import {
  createParameters,
  hashWeights,
  initialValues,
  readParameters,
} from "../model/parameters.ts";
import type { Decoder } from "../rollout/decoder.ts";
import { prepareUpdatePass, type UpdatePass } from "./update_pass.ts";

/** Episodes of the rollout that is timed: between those of a training step and those of an evaluation. */
export const PROBE_EPISODES = 256;

/** What is measured. */
export interface ProbeOptions {
  /** The layouts; the first that computes at all decides which bits are right. */
  readonly candidates: readonly Tuning[];
  /** Opens a device of this layout. */
  readonly openGpu: (tuning: Tuning) => Promise<Gpu>;
  /** Counted rounds; one more comes first and warms up. */
  readonly rounds: number;
  /** Episodes of the rollout (default {@linkcode PROBE_EPISODES}). */
  readonly episodeCount?: number;
  /** Tokens of the update (default those of a training step of 64 episodes). */
  readonly rowCount?: number;
  /** Called before each measurement. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What was found about a layout. */
export interface ProbeRow {
  readonly tuning: Tuning;
  /** Medians over the rounds; NaN where it was refused. */
  readonly rolloutMs: number;
  readonly updateMs: number;
  /** Why it must not be used; undefined where it may. */
  readonly refusal: string | undefined;
}

/** The work on one device. */
interface Bench {
  readonly commands: Commands;
  readonly decoder: Decoder;
  readonly pass: UpdatePass;
}

interface Sample {
  readonly rolloutMs: number;
  readonly updateMs: number;
  /** Of tokens, log-probs and the updated weights. */
  readonly hash: string;
}

/** A layout while it is measured. */
interface Entry {
  readonly tuning: Tuning;
  readonly samples: Sample[];
  bench: Bench | undefined;
  refusal: string | undefined;
}

/** An untrained agent: its episodes are as long as they may be, and it needs no cloning. */
function prepare(gpu: Gpu, options: { readonly gym: CompiledGym; readonly rowCount: number }) {
  const { gym, rowCount } = options;
  const commands = new Commands(gpu);
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 0));
  const decoder = benchDecoder(commands, { gym, parameters });
  return { commands, decoder, pass: prepareUpdatePass(commands, { rowCount }) };
}

/** One rollout and one update, each timed until the host has its result. */
async function measureOnce(
  { commands, decoder, pass }: Bench,
  rollout: Parameters<typeof playEpisodes>[1],
): Promise<Sample> {
  const startMs = performance.now();
  const episodes = await playEpisodes(decoder, rollout);
  const playedMs = performance.now();
  const { plan, size, parameters, gradients: { clip_2: tensor } } = pass;
  commands.replay(plan, size);
  commands.refreshOperand(parameters.operand, parameters.flat);
  await commands.read([{ tensor, sizeBytes: tensor.sizeBytes }]);
  const endMs = performance.now();
  const played = episodes.flatMap(({ ids, logps }) => [...ids, ...logps]);
  const weights_W = await readParameters(commands, parameters);
  const numbers = new Float32Array(played.length + weights_W.length);
  numbers.set(played);
  numbers.set(weights_W, played.length);
  return {
    rolloutMs: playedMs - startMs,
    updateMs: endMs - playedMs,
    hash: await hashWeights(numbers),
  };
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rowOf({ tuning, samples, refusal }: Entry): ProbeRow {
  const of = (ms: (sample: Sample) => number) => refusal ? NaN : median(samples.map(ms));
  return {
    tuning,
    rolloutMs: of(({ rolloutMs }) => rolloutMs),
    updateMs: of(({ updateMs }) => updateMs),
    refusal,
  };
}

/**
 * Measures layouts. One that computes other bits than those before it, or that fails, is refused with the reason.
 *
 * @returns One row a candidate, in their order.
 * @throws {RangeError} When there is no round.
 */
export async function probeLayouts(options: ProbeOptions): Promise<ProbeRow[]> {
  const { candidates, openGpu, rounds, onProgress } = options;
  const { episodeCount = PROBE_EPISODES, rowCount = BENCH_ROWS } = options;
  if (rounds < 1) throw new RangeError(`Cannot probe layouts in ${rounds} rounds: at least 1`);
  const gym = compileGym(openGym(), "chapter6");
  const entries = candidates.map((tuning): Entry => ({
    tuning,
    samples: [],
    bench: undefined,
    refusal: undefined,
  }));
  for (let round = 0; round <= rounds; round++) {
    let rightHash: string | undefined;
    for (const [i, entry] of entries.entries()) {
      onProgress?.(round * entries.length + i, (rounds + 1) * entries.length);
      if (entry.refusal !== undefined) continue;
      try {
        entry.bench ??= prepare(await openGpu(entry.tuning), { gym, rowCount });
        const sample = await measureOnce(entry.bench, { gym, episodeCount, round });
        rightHash ??= sample.hash;
        if (sample.hash !== rightHash) entry.refusal = "other bits than the layouts before it";
        if (round > 0) entry.samples.push(sample);
      } catch (error) {
        entry.refusal = describeError(error);
      }
    }
  }
  entries.forEach(({ bench }) => bench?.commands.gpu.device.destroy());
  return entries.map(rowOf);
}

/**
 * The layout with the least time of rollout and update together.
 *
 * @throws {UserError} When every layout was refused; exit code 1.
 */
export function fastestLayout(rows: readonly ProbeRow[]): Tuning {
  const [first, ...others] = rows.filter(({ refusal }) => refusal === undefined);
  if (!first) {
    throw new UserError(
      `Cannot compute here: no layout of the kernels runs (${
        rows[0]?.refusal ?? "none was tried"
      })`,
      1,
    );
  }
  const sumMs = ({ rolloutMs, updateMs }: ProbeRow) => rolloutMs + updateMs;
  return others.reduce((best, row) => sumMs(row) < sumMs(best) ? row : best, first).tuning;
}
