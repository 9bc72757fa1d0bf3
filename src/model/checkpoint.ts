/** Checkpoints as the tensors and texts of a safetensors file: a model's weights, the optimizer's moments, the run's state. */
import { UserError } from "../core/errors.ts";
import type { ModelConfig } from "./config.ts";
import { fromTensors, inferConfig, toTensors } from "./parameters.ts";
import type { Tensor, TensorFile } from "./safetensors.ts";

/** What a checkpoint holds. */
export interface Checkpoint {
  /** Sizes of the model. */
  readonly config: ModelConfig;
  /** All parameters in the order of the layout. */
  readonly weights_W: Float32Array<ArrayBuffer>;
  /** Updates behind these weights; 0 where the file does not say. */
  readonly step: number;
  /** Adam's first and second moments, in the same order. A model that is only used needs none. */
  readonly moments?: Moments;
  /** Weights before each of the last steps, oldest first, where a sampler lags behind. */
  readonly earlierWeights?: readonly Float32Array<ArrayBuffer>[];
  /** JSON values that a resumed run needs. Unchecked when read: its reader parses it with a schema. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** Of a file that was read: true where its SHA-256 was right, false where it carries none. */
  readonly isVerified?: boolean;
}

/** Adam's moments as flat arrays, the first and the second one. */
export type Moments = readonly [
  first_W: Float32Array<ArrayBuffer>,
  second_W: Float32Array<ArrayBuffer>,
];

/** Raised when a reader of an older version would misunderstand the file. */
const FORMAT_VERSION = "1";

/** Where the moments stand beside the weights: before the parameters' names. */
const MOMENT_PREFIXES = ["adam.first/", "adam.second/"] as const;

/** Weights of N steps before the checkpoint follow `earlier.N/`. */
const earlierPrefix = (stepsBack: number) => `earlier.${stepsBack}/`;
const EARLIER = /^(earlier\.[1-9]\d*\/)/;

/** Files of other programs do not say how many heads their model has; this is TinyAgent's number. */
const DEFAULT_HEAD_COUNT = "4";

/** A checkpoint as tensors and texts. */
export function checkpointFile(checkpoint: Checkpoint): TensorFile {
  const { config, weights_W, step, moments = [], earlierWeights = [], state } = checkpoint;
  const tensors = toTensors(config, weights_W);
  const add = (values_W: Float32Array<ArrayBuffer>, prefix: string | undefined) =>
    toTensors(config, values_W, prefix).forEach((tensor, name) => tensors.set(name, tensor));
  moments.forEach((moment_W, i) => add(moment_W, MOMENT_PREFIXES[i]));
  earlierWeights.forEach((earlier_W, i) =>
    add(earlier_W, earlierPrefix(earlierWeights.length - i))
  );
  const metadata = {
    format_version: FORMAT_VERSION,
    head_count: String(config.headCount),
    step: String(step),
    ...(state && { state: JSON.stringify(state) }),
  };
  return { tensors, metadata };
}

/**
 * The checkpoint in a safetensors file.
 *
 * @throws {UserError} When it comes from a later version, or holds other names or shapes than a model's; with exit code 1 when a
 *   weight or moment is not finite. {RangeError} When the model breaks rules of its own. Both as the end of a sentence.
 */
export function parseCheckpoint({ tensors, metadata }: TensorFile): Checkpoint {
  const { format_version: version = FORMAT_VERSION } = metadata;
  if (version !== FORMAT_VERSION) {
    throw new UserError(
      `it has format version ${version}, this program reads version ${FORMAT_VERSION}`,
    );
  }
  const headCount = parseCount("head_count", metadata.head_count ?? DEFAULT_HEAD_COUNT);
  const weights = new Map<string, Tensor>();
  const moments = new Map<string, Tensor>();
  const earlier = new Map<string, Map<string, Tensor>>();
  for (const [name, tensor] of tensors) {
    const [prefix] = EARLIER.exec(name) ?? [];
    const isMoment = MOMENT_PREFIXES.some((known) => name.startsWith(known));
    const place = prefix === undefined
      ? isMoment ? moments : weights
      : earlier.get(prefix) ?? new Map<string, Tensor>();
    if (prefix !== undefined) earlier.set(prefix, place);
    place.set(name, tensor);
  }
  const config = inferConfig(weights, headCount);
  const [firstPrefix, secondPrefix] = MOMENT_PREFIXES;
  return {
    config,
    weights_W: fromTensors(config, weights),
    step: parseCount("step", metadata.step ?? "0"),
    ...(moments.size > 0 && {
      moments: [
        fromTensors(config, moments, firstPrefix),
        fromTensors(config, moments, secondPrefix),
      ],
    }),
    ...(earlier.size > 0 && { earlierWeights: parseEarlier(config, earlier) }),
    ...(metadata.state !== undefined && { state: parseState(metadata.state) }),
  };
}

/** Oldest first. A gap would hand a sampler the weights of another step. */
function parseEarlier(
  config: ModelConfig,
  earlier: ReadonlyMap<string, ReadonlyMap<string, Tensor>>,
): Float32Array<ArrayBuffer>[] {
  return Array.from({ length: earlier.size }, (_, i) => {
    const prefix = earlierPrefix(earlier.size - i);
    return fromTensors(config, earlier.get(prefix) ?? new Map(), prefix);
  });
}

function parseCount(name: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new UserError(`its metadata "${name}" is "${text}", but must be a whole number`);
}

function parseState(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `its metadata "state" is not valid JSON (${error instanceof Error ? error.message : error})`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new UserError('its metadata "state" is not a JSON object');
}
