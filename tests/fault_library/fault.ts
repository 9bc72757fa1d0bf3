/** What a planted fault is: a patch of the project's own sources, as people really get a trainer wrong. */

/** What part of a trainer a fault sits in. */
export const FAULT_KINDS = [
  "advantages",
  "rewards",
  "KL",
  "entropy",
  "ratio",
  "clip",
  "optimizer",
  "learning rate",
  "accumulation",
  "data",
  "mask",
  "forward",
  "backward",
  "sampler",
  "sync",
  "frozen",
  "resume",
  "environment",
] as const;

/** What part of a trainer a fault sits in. */
export type FaultKind = typeof FAULT_KINDS[number];

/** Causes that are near every fault of a kind: who follows them up looks at the stage that is wrong. */
export const SAME_STAGE: Readonly<Partial<Record<FaultKind, readonly string[]>>> = {
  advantages: ["group_shuffle", "sign_flip"],
  rewards: ["public_reward"],
  KL: ["ref_is_policy"],
  entropy: ["entropy_sign"],
  ratio: ["stale_old_logp"],
  accumulation: ["accum_local", "denominator"],
  mask: ["mask_shift", "mask_end_call"],
  forward: ["sampler_temp", "sampler_logp_temp", "stale_sampler"],
  sampler: ["sampler_temp", "sampler_logp_temp", "stale_sampler"],
  sync: ["sampler_temp", "sampler_logp_temp", "stale_sampler"],
};

/**
 * Causes of the catalogue that are near a fault without being it. Where there are neither such nor named ones, the right answer
 * is that the cause is unknown.
 */
export function nearOf({ kind, named, near }: PlantedFault): string[] {
  return [...new Set([...near, ...SAME_STAGE[kind] ?? []])].filter((name) => !named.includes(name));
}

/** A text of a source file that is replaced. */
export interface Patch {
  /** The file, from the root of the project. */
  readonly file: string;
  /** It must occur exactly once in the file. */
  readonly find: string;
  /** What stands there instead. */
  readonly put: string;
}

/** A fault of the library. */
export interface PlantedFault {
  /** Its name; its hash says to which half it belongs. */
  readonly name: string;
  /** Where it sits. */
  readonly kind: FaultKind;
  /** What is wrong, in one sentence. */
  readonly summary: string;
  /** What somebody sees who trains with it. */
  readonly shows: string;
  /** Causes of the catalogue that are this fault; empty where the catalogue has none. */
  readonly named: readonly string[];
  /** Causes of the catalogue that are near, beside those of {@linkcode SAME_STAGE}. */
  readonly near: readonly string[];
  /** The first step, from 0, that differs from that of a right trainer. */
  readonly begins: number;
  /** What is changed, all together. */
  readonly patches: readonly Patch[];
  /** Settings of the run, as `--set` takes them: what the fault needs in order to matter. */
  readonly settings?: readonly string[];
  /** The run is stopped after so many steps and resumed. */
  readonly resumeAt?: number;
}

/** Which half of the library a fault belongs to: rules may be made on the first one, and are judged on the second. */
export type Half = "development" | "held-out";

/**
 * The half of a fault: by the parity of the 32-bit FNV-1a hash of its name, even for development and odd for held-out.
 *
 * @param name The fault's name.
 */
export function halfOf(name: string): Half {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % 2 === 0 ? "development" : "held-out";
}

/**
 * Applies a patch to the text of its file.
 *
 * @throws {Error} When the text to replace does not occur exactly once.
 */
export function applyPatch(text: string, { file, find, put }: Patch): string {
  const count = text.split(find).length - 1;
  if (count !== 1) {
    throw new Error(`Cannot patch ${file}: it holds ${count} times, not once, the text\n${find}`);
  }
  return text.replace(find, () => put);
}
