/** All families of vectors. A new one is a file with its cases, dialects and mistakes, and a line here. */
import type { Family } from "./family.ts";
import { ADVANTAGES } from "./families/advantages.ts";
import { AGGREGATION } from "./families/aggregation.ts";
import { CUTS } from "./families/cuts.ts";
import { GAE } from "./families/gae.ts";
import { KL } from "./families/kl.ts";
import { LOGPROB } from "./families/logprob.ts";
import { LOSS } from "./families/loss.ts";
import { SAMPLER } from "./families/sampler.ts";
import { SURROGATE } from "./families/surrogate.ts";

/** The families, in the order in which they are listed. */
export const VECTOR_FAMILIES: readonly Family[] = [
  ADVANTAGES,
  GAE,
  KL,
  SURROGATE,
  SAMPLER,
  AGGREGATION,
  LOSS,
  LOGPROB,
  CUTS,
];

/** The family of a name. */
export function familyNamed(name: string): Family | undefined {
  return VECTOR_FAMILIES.find((family) => family.name === name);
}
