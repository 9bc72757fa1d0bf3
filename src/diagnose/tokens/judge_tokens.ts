/** Judges a token dump: every check sees each sequence once, and causes stand before what follows from them. */
import type { TokenBatch } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import { orderFindings } from "../findings/order.ts";
import { boundsOf, type SamplerEngine } from "./engine_bounds.ts";
import { GAP } from "./gap.ts";
import { GROUPS } from "./groups.ts";
import { LENGTHS } from "./lengths.ts";
import { MASK } from "./mask.ts";
import { NON_FINITE } from "./non_finite.ts";
import { NORMALISER } from "./normaliser.ts";
import { OLD_POLICY } from "./old_policy.ts";
import { OUTLIERS, VERSIONS } from "./outliers.ts";
import { PACKING } from "./packing.ts";
import { SHIFT } from "./shift.ts";
import { TEMPERATURE } from "./temperature.ts";
import { type TokenCheckKind, type TokenContext, viewOf } from "./token_check.ts";
import { TOP_P } from "./top_p.ts";
import { TURNS } from "./turns.ts";

/** All checks of token dumps. */
export const TOKEN_CHECKS: readonly TokenCheckKind[] = [
  NON_FINITE,
  SHIFT,
  MASK,
  TURNS,
  PACKING,
  TEMPERATURE,
  TOP_P,
  GAP,
  OLD_POLICY,
  OUTLIERS,
  VERSIONS,
  NORMALISER,
  LENGTHS,
  GROUPS,
];

/** What a dump does not tell and its user may. */
export interface TokenSettings {
  /** Engine of the sampler beside the trainer's (default: bf16; exact in dumps of our own). */
  readonly sampler?: SamplerEngine;
  /** Samples that share a prompt. */
  readonly groupSize?: number;
}

/**
 * Judges a token dump.
 *
 * @param batch The dump; it is read once, and no more is kept than a summary of each sequence.
 * @param settings What the dump does not tell.
 * @returns Findings, the gravest first and causes before what follows from them; the same for every order of the sequences,
 *   but for where they stand.
 */
export async function judgeTokens(
  batch: TokenBatch,
  { sampler, groupSize }: TokenSettings = {},
): Promise<Finding[]> {
  const { source } = batch;
  const context: TokenContext = {
    source,
    bounds: boundsOf(sampler ?? (source.producer === "agentrl" ? "exact" : "bf16")),
    groupSize,
  };
  const checks = TOKEN_CHECKS.map((kind) => kind.open(context));
  for await (const sequence of batch.sequences()) {
    const view = viewOf(sequence);
    for (const check of checks) check.add(view);
  }
  return orderFindings(checks.flatMap((check) => check.finish()));
}
