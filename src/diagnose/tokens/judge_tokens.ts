/** Judges a token dump: every check sees each sequence once, and causes stand before what follows from them. */
import type { TokenBatch } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import { orderFindings } from "../findings/order.ts";
import { boundsOf, type SamplerEngine } from "./engine_bounds.ts";
import { GAP } from "./gap.ts";
import { GROUPS } from "./groups.ts";
import { LENGTHS } from "./lengths.ts";
import { howToCheck, howToGetTokens } from "./missing.ts";
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
  /** Engine of the sampler beside the trainer's (default: bf16; in dumps of our own exact, or f32 where the adapter may round differently). */
  readonly sampler?: SamplerEngine;
  /** Samples that share a prompt. */
  readonly groupSize?: number;
}

/** The engine of a dump whose user does not name one. */
function ownEngine({ producer, roundsApart }: TokenBatch["source"]): SamplerEngine {
  if (producer !== "agentrl") return "bf16";
  return roundsApart ? "f32" : "exact";
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
    bounds: boundsOf(sampler ?? ownEngine(source)),
    groupSize,
  };
  const checks = TOKEN_CHECKS.map((kind) => ({ kind, check: kind.open(context) }));
  let sequenceCount = 0, hasTokens = false;
  for await (const sequence of batch.sequences()) {
    sequenceCount++;
    hasTokens ||= sequence.ids.length > 0;
    const view = viewOf(sequence);
    for (const { check } of checks) check.add(view);
  }
  if (sequenceCount === 0) return [nothingToJudge("The dump holds no sequences.")];
  const { form } = source;
  // Of texts each check of tokens would say that it lacks them.
  const able = hasTokens ? checks : checks.filter(({ kind }) => kind === GROUPS);
  const findings = able.flatMap(({ check }) => check.finish()).map((finding) =>
    withHowTo(finding, form)
  );
  const lacking = hasTokens ? [] : [{
    ...nothingToJudge(
      "Not checked: masks, log-probs, ends and turns. The dump holds text but no tokens.",
    ),
    next: howToGetTokens(form),
  }];
  return orderFindings([...findings, ...lacking]);
}

function nothingToJudge(sentence: string): Finding {
  return { id: "no_tokens", class: "not-checkable", sentence };
}

/** Of what could not be checked: how that form of dump comes to hold it. */
function withHowTo(finding: Finding, form: string): Finding {
  if (finding.class !== "not-checkable" || finding.next !== undefined) return finding;
  const next = howToCheck(form, finding.id);
  return next === undefined ? finding : { ...finding, next };
}
