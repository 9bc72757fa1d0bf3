/** What lies beside the episodes of a run of ours: which tokens a recorded step trained, with which advantages, and the run's settings. */
import { isRecord } from "../core/record.ts";
import { UserError } from "../core/errors.ts";
import { requireTensor } from "../model/safetensors.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import type { TokenSequence } from "../tokens/token_batch.ts";
import { filled, present } from "../tokens/token_values.ts";
import { readJson } from "./json.ts";
import { placeOf } from "./own_adapter.ts";
import { exists } from "./paths.ts";
import { readTensorFile } from "./tensor_file.ts";

/** What a run's config.json tells of every episode. */
interface OwnSettings {
  /** False where each episode is its own baseline's. */
  readonly isGrouped: boolean;
  readonly temperature: number | undefined;
  readonly aggregation: string | undefined;
  /** Whether episodes may be missing from a batch: only environments of users lose some. */
  readonly mayHaveLost: boolean;
}

function settingsOf(run: string): OwnSettings {
  const path = `${run}/config.json`;
  const content = exists(path) ? readJson(path) : undefined;
  const config = isRecord(content) && isRecord(content.config) ? content.config : {};
  const { algorithm, temperature, aggregation } = config;
  const grouped = Object.entries(ALGORITHMS).find(([name]) => name === algorithm)?.[1].grouped;
  return {
    isGrouped: grouped ?? true,
    temperature: typeof temperature === "number" ? temperature : undefined,
    aggregation: typeof aggregation === "string" ? aggregation : undefined,
    mayHaveLost: isRecord(content) && content.environment !== undefined,
  };
}

/** The batch of a recorded step, as its update saw it. */
interface TrainedBatch {
  readonly path: string;
  readonly episodeCount: number;
  readonly columnCount: number;
  readonly ids_BT: Int32Array;
  /** Column t is about token t + 1. */
  readonly mask_BC: Float32Array | undefined;
  readonly advantage_B: Float32Array | undefined;
}

function readTrainedBatch(path: string): TrainedBatch | undefined {
  if (!exists(path)) return undefined;
  const file = readTensorFile(path);
  const { shape: [B = 0, T = 0], data: ids_BT } = requireTensor(file, "ids", {
    dtype: "I32",
    shape: [null, null],
    fileName: path,
  });
  const optional = (name: string, shape: readonly number[]) =>
    file.tensors.has(name)
      ? requireTensor(file, name, { dtype: "F32", shape, fileName: path }).data
      : undefined;
  return {
    path,
    episodeCount: B,
    columnCount: T,
    ids_BT,
    mask_BC: optional("action_mask", [B, T - 1]),
    advantage_B: optional("advantages", [B]),
  };
}

/** What the batch says of an episode. @throws {UserError} When it holds another. */
function trained(
  sequence: TokenSequence,
  batch: TrainedBatch,
  { mayHaveLost }: Pick<OwnSettings, "mayHaveLost">,
): Partial<TokenSequence> {
  const { episodeCount, columnCount: T, ids_BT, mask_BC, advantage_B, path } = batch;
  const { ids } = sequence;
  const isSame = (b: number) =>
    b < episodeCount && ids.length <= T && ids.every((id, token) => id === ids_BT[b * T + token]);
  let b = Number(sequence.sample);
  // Episodes that were lost before it are not in the batch.
  while (mayHaveLost && b > 0 && !isSame(b)) b--;
  if (!isSame(b)) {
    throw new UserError(
      `Cannot use ${path}: it does not hold episode ${sequence.sample} of ${sequence.file}, row ${sequence.row}`,
    );
  }
  const advantage = advantage_B?.[b];
  return present({
    // Nothing predicts the first token.
    mask: mask_BC && Uint8Array.from(ids, (_, t) => t === 0 ? 0 : mask_BC[b * (T - 1) + t - 1]),
    advantage,
    advantages: advantage === undefined ? undefined : filled(advantage, ids.length),
  });
}

/**
 * Adds to our own episodes what lies beside them. Episodes of a recorded step that the run's episodes.jsonl holds as well, come once.
 *
 * @param sequences Of all files of episodes, those of runs before those of their recorded steps.
 * @throws {UserError} When a file beside them is damaged, or is of other episodes.
 */
export async function* withOwnRecords(
  sequences: AsyncIterable<TokenSequence>,
): AsyncGenerator<TokenSequence> {
  const settings = new Map<string, OwnSettings>();
  const seen = new Set<string>();
  let batch: { readonly path: string; readonly content: TrainedBatch | undefined } | undefined;
  for await (const sequence of sequences) {
    const { run, step } = placeOf(sequence.file);
    const name = `${run}/steps/${sequence.step}`;
    if (step === undefined) seen.add(name);
    else if (seen.has(name)) continue;
    const own = settings.get(run) ?? settingsOf(run);
    settings.set(run, own);
    const path = `${name}/batch.safetensors`;
    if (batch?.path !== path) batch = { path, content: readTrainedBatch(path) };
    const { group, ...rest } = sequence;
    yield {
      ...rest,
      run,
      ...present({
        group: own.isGrouped ? group : undefined,
        temperature: own.temperature,
        loss: own.aggregation === undefined ? undefined : { aggregation: own.aggregation },
      }),
      ...(batch.content && trained(sequence, batch.content, own)),
    };
  }
}
