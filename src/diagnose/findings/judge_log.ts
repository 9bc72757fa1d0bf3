/** Judges a log: runs all rules, says what could not be checked, and puts causes before consequences. */
import type { CanonicalMetric, Need } from "../../producers/definition.ts";
import type { RunView } from "../../producers/run_view.ts";
import type { Finding } from "../finding.ts";
import { compareWith } from "./against.ts";
import { ANSWER_RULES } from "./answers.ts";
import { CONTRADICTION_RULES } from "./contradictions.ts";
import type { Curve } from "./curve.ts";
import { ENTROPY_RULES } from "./entropy.ts";
import { GRADIENT_RULES } from "./gradient.ts";
import { KL_RULES } from "./kl.ts";
import { NON_FINITE_RULES } from "./non_finite.ts";
import { OLD_POLICY_RULES } from "./old_policy.ts";
import { orderFindings } from "./order.ts";
import { REWARD_RULES } from "./reward.ts";
import { type Context, contextOf, type Rule } from "./rule.ts";
import { RUN_RULES } from "./run.ts";
import { SAMPLER_RULES } from "./sampler.ts";
import { SIGNAL_RULES } from "./signal.ts";

/** All rules about logs, causes first. */
export const RULES: readonly Rule[] = [
  ...NON_FINITE_RULES,
  ...CONTRADICTION_RULES,
  ...ANSWER_RULES,
  ...SAMPLER_RULES,
  ...OLD_POLICY_RULES,
  ...KL_RULES,
  ...SIGNAL_RULES,
  ...GRADIENT_RULES,
  ...ENTROPY_RULES,
  ...REWARD_RULES,
  ...RUN_RULES,
];

/** Metrics without which a log says little; each with what it would tell. */
const WANTED: readonly {
  readonly need: Need;
  /** Each alone is enough; of those in a list all are needed. */
  readonly metrics: readonly (CanonicalMetric | readonly CanonicalMetric[])[];
  readonly tells: string;
}[] = [
  { need: "truncated", metrics: ["truncated"], tells: "whether answers are cut off" },
  {
    need: "flat_groups",
    // With a value function there are no groups.
    metrics: ["flat_groups", "reward_std", ["all_solved", "none_solved"], "value_loss"],
    tells: "how many groups have equal rewards",
  },
  { need: "grad_norm", metrics: ["grad_norm"], tells: "whether the gradient spikes or vanishes" },
];

function notCheckable({ view }: Context): Finding[] {
  const missing = RULES.flatMap(({ needs, without }) =>
    without && needs.some(({ metric }) => view.all(metric).length === 0) ? [without] : []
  ).concat(
    WANTED.filter(({ metrics }) =>
      !metrics.some((own) => [own].flat().every((metric) => view.all(metric).length > 0))
    )
      .map(({ need, tells }) => ({ need, sentence: tells })),
  );
  return missing.map(({ need, sentence }): Finding => {
    const how = view.producer?.switchOn[need];
    return {
      id: need === "gap" ? "sampler_trainer_gap" : need,
      class: "not-checkable",
      sentence: `Not checked: ${sentence}.`,
      ...(how === undefined ? {} : { next: how }),
    };
  });
}

function applyRule(rule: Rule, context: Context): readonly Finding[] {
  const curves: Curve[] = [];
  for (const { metric, ...wanted } of rule.needs) {
    const curve = context.curve(metric, wanted);
    if (!curve) return [];
    curves.push(curve);
  }
  return rule.judge(context, ...curves);
}

/** Of findings that say the same of the same key and step, the first. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ id, key = "", step = NaN }) => {
    const name = `${id} ${key} ${step}`;
    return !seen.has(name) && seen.add(name);
  });
}

const KINDS = {
  sft: "trains on given answers (supervised fine-tuning)",
  preference:
    "trains on given pairs or ratings of answers (DPO and its relatives, or a reward model)",
} as const;

/**
 * Judges a log.
 *
 * @param view The log with its meaning.
 * @param options.against A healthy run of the same user: metrics that both have are compared.
 * @returns Findings, the gravest first and causes before what follows from them. A log of another kind of training gets one
 *   finding that says so.
 */
export function judgeLog(
  view: RunView,
  { against }: { readonly against?: RunView | undefined } = {},
): Finding[] {
  const kind = view.producer?.kind ?? "rl";
  if (kind !== "rl") {
    return [{
      id: "not_rl",
      class: "note",
      sentence: `This run ${
        KINDS[kind]
      }; the checks for reinforcement learning do not apply to it.`,
    }];
  }
  const context = contextOf(view);
  return orderFindings(withoutRepeats([
    ...RULES.flatMap((rule) => applyRule(rule, context)),
    ...(against ? compareWith(context, contextOf(against)) : []),
    ...notCheckable(context),
  ]));
}
