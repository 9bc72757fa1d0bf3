/** How a config.json says its rotary positions: the older layout (rope_theta, rope_scaling) and that of transformers 5 (rope_parameters). */
import { z } from "zod";
import type { UserError } from "../core/errors.ts";
import type { ArchitectureName, RopeScaling } from "../model/decoder_config.ts";

const positive = z.number().positive();

const ROPE = z.looseObject({
  rope_type: z.string().nullish(),
  type: z.string().nullish(),
  rope_theta: positive.nullish(),
  factor: positive.nullish(),
  low_freq_factor: positive.nullish(),
  high_freq_factor: positive.nullish(),
  original_max_position_embeddings: positive.nullish(),
  partial_rotary_factor: positive.nullish(),
});

type RawRope = z.infer<typeof ROPE>;

/** Fields of config.json that are about positions. */
export const ROPE_FIELDS = {
  rope_theta: positive.nullish(),
  rope_scaling: ROPE.nullish(),
  rope_parameters: ROPE.nullish(),
  partial_rotary_factor: positive.nullish(),
};

/** What they say. */
export type RawRopeFields = z.infer<z.ZodObject<typeof ROPE_FIELDS>>;

/** Keys that say which kind it is, or change nothing in the kinds that are computed. */
const COMMON_KEYS = [
  "rope_type",
  "type",
  "rope_theta",
  "partial_rotary_factor",
  "original_max_position_embeddings",
];
const KEYS: Readonly<Record<RopeScaling["kind"], readonly string[]>> = {
  none: [],
  linear: ["factor"],
  llama3: ["factor", "low_freq_factor", "high_freq_factor"],
};

/** Of Llamas that are older than the field. */
const LLAMA_THETA = 10_000;

/** What of a name is said, where it is said in one way; undefined where nowhere. */
function agreed<T extends string | number>(
  name: string,
  said: readonly (T | null | undefined)[],
  refuse: (reason: string) => UserError,
): T | undefined {
  const [first, ...others] = [...new Set(said.filter((value) => (value ?? null) !== null))];
  if (others.length > 0) {
    throw refuse(`its ${name} is said twice, as ${first} and as ${others[0]}`);
  }
  return first ?? undefined;
}

function requireKnownKeys(
  rope: RawRope,
  { kind, name, refuse }: {
    readonly kind: RopeScaling["kind"];
    readonly name: string;
    readonly refuse: (reason: string) => UserError;
  },
): void {
  for (const [key, value] of Object.entries(rope)) {
    if ((value ?? null) === null || COMMON_KEYS.includes(key) || KEYS[kind].includes(key)) continue;
    throw refuse(`its rope scaling ${name} has ${key}, which is not computed`);
  }
}

/**
 * Reads the base of the angles and how they are scaled.
 *
 * @param raw The fields; both layouts may stand side by side where they agree.
 * @param options.refuse Makes the error of a reason.
 * @throws {UserError} When the scaling is of another kind, lacks something, has a key that its kind does not, or is said twice.
 */
export function readRope(raw: RawRopeFields, options: {
  readonly architecture: ArchitectureName;
  readonly refuse: (reason: string) => UserError;
}): { readonly theta: number; readonly scaling: RopeScaling } {
  const { architecture, refuse } = options;
  const ropes = [raw.rope_parameters, raw.rope_scaling].filter((rope) => (rope ?? null) !== null);
  const said = <K extends keyof RawRope>(key: K) => ropes.map((rope) => rope?.[key]);
  const number = (key: "factor" | "low_freq_factor" | "high_freq_factor") =>
    agreed(key, said(key), refuse);
  const name = agreed("rope_type", [...said("rope_type"), ...said("type")], refuse) ?? "default";
  const kind = name === "default" ? "none" : name;
  if (kind !== "none" && kind !== "linear" && kind !== "llama3") {
    throw refuse(
      `its rope scaling is ${JSON.stringify(name)}; default, linear and llama3 are computed`,
    );
  }
  for (const rope of ropes) if (rope) requireKnownKeys(rope, { kind, name, refuse });
  const partial = agreed(
    "partial_rotary_factor",
    [raw.partial_rotary_factor, ...said("partial_rotary_factor")],
    refuse,
  );
  if ((partial ?? 1) !== 1) {
    throw refuse(`its partial_rotary_factor is ${partial}; heads are turned whole`);
  }
  const theta = agreed("rope_theta", [raw.rope_theta, ...said("rope_theta")], refuse) ??
    (architecture === "llama" ? LLAMA_THETA : undefined);
  if (theta === undefined) throw refuse("its rope_theta is missing");
  const need = (key: string, value: number | undefined): number => {
    if (value !== undefined) return value;
    throw refuse(`its rope scaling ${name} has no ${key}`);
  };
  const factor = () => need("factor", number("factor"));
  if (kind === "none") return { theta, scaling: { kind } };
  if (kind === "linear") return { theta, scaling: { kind, factor: factor() } };
  const original = "original_max_position_embeddings";
  const scaling = {
    kind,
    factor: factor(),
    lowFactor: need("low_freq_factor", number("low_freq_factor")),
    highFactor: need("high_freq_factor", number("high_freq_factor")),
    originalPositions: need(original, agreed(original, said(original), refuse)),
  } as const;
  if (scaling.highFactor > scaling.lowFactor) return { theta, scaling };
  throw refuse(
    `its high_freq_factor, ${scaling.highFactor}, must be above its low_freq_factor, ${scaling.lowFactor}`,
  );
}
