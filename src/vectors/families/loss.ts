/** The family `loss`: whole losses, policy term, aggregation and KL together, with the gradient for every log-prob. */
import { klTerm, type ValueAndDerivative } from "../../equations/policy_loss.ts";
import { clampedKlTerm } from "../../reference/kl_estimators.ts";
import {
  type Compute,
  type Dialect,
  type Family,
  input,
  setting,
  type VectorCase,
} from "../family.ts";
import { type Arrays, matrix, rowsOf, scalar } from "../values.ts";
import { AGGREGATION_DIALECTS } from "./aggregation.ts";
import { LOSS_CASES } from "./loss_cases.ts";
import { LOSS_MISTAKES } from "./loss_mistakes.ts";
import { TOKEN_TERMS, tokenTerms } from "./surrogate.ts";

/** The estimators that losses take. */
const KL_TERMS = {
  k3: (difference: number) => klTerm("k3", difference),
  k3_clamped: (difference: number) =>
    clampedKlTerm(difference, { kind: "k3", differenceLimit: 20, valueLimit: 10 }),
} as const satisfies Readonly<Record<string, (difference: number) => ValueAndDerivative>>;

/** What a whole loss is made of. */
interface LossParts {
  readonly term: keyof typeof TOKEN_TERMS;
  readonly aggregation: string;
  readonly kl: keyof typeof KL_TERMS;
  /** Aggregation of the KL term, where it is another one. */
  readonly klAggregation?: string;
}

/** Weight of every token under an aggregation: the gradient of its loss for each term. */
function weightsOf(vectorCase: VectorCase, name: string): readonly number[] {
  const dialect = AGGREGATION_DIALECTS.find((one) => one.name === name);
  const mask = input(vectorCase, "mask");
  const term = { shape: mask.shape, values: mask.values.map(() => 0) };
  const outputs = dialect?.compute({ ...vectorCase, inputs: { term, mask } });
  if (outputs?.dterm === undefined) throw new RangeError(`Cannot aggregate with ${name}`);
  return outputs.dterm.values;
}

function lossOf({ term, aggregation, kl, klAggregation = aggregation }: LossParts): Compute {
  return (vectorCase): Arrays => {
    const klCoef = setting(vectorCase, "klCoef");
    const policy = tokenTerms(vectorCase, TOKEN_TERMS[term]);
    const weight = weightsOf(vectorCase, aggregation);
    const klWeight = weightsOf(vectorCase, klAggregation);
    const logp = rowsOf(input(vectorCase, "logp"));
    const refLogp = rowsOf(input(vectorCase, "refLogp"));
    const T = input(vectorCase, "mask").shape[1] ?? 0;
    let loss = 0;
    const dlogp = policy.value.map((row, b) =>
      row.map((value, t) => {
        const i = b * T + t;
        let derivative = 0;
        const own = weight[i] ?? 0;
        if (own !== 0) {
          loss += own * value;
          derivative += own * (policy.derivative[b]?.[t] ?? NaN);
        }
        const ofKl = klCoef * (klWeight[i] ?? 0);
        if (ofKl !== 0) {
          const found = KL_TERMS[kl]((logp[b]?.[t] ?? NaN) - (refLogp[b]?.[t] ?? NaN));
          loss += ofKl * found.value;
          derivative += ofKl * found.derivative;
        }
        return derivative;
      })
    );
    return { loss: scalar(loss), dlogp: matrix(dlogp) };
  };
}

function dialect(parts: LossParts, usedBy: readonly string[]): Dialect {
  const { term, aggregation, kl, klAggregation } = parts;
  const apart = klAggregation === undefined || klAggregation === aggregation;
  return {
    name: [term, aggregation, kl, ...(apart ? [] : [`of_${klAggregation}`])].join("."),
    sentence: `\`${term}\` of \`surrogate\` and klCoef times ${
      kl === "k3" ? "`k3`" : "`k3_clamped_20_10`"
    } of \`kl\`, by \`${aggregation}\` of \`aggregation\`${
      apart ? "" : `, the KL by \`${klAggregation}\``
    }`,
    usedBy,
    compute: lossOf(parts),
  };
}

/** Whole losses. */
const LOSS_DIALECTS: readonly Dialect[] = [
  dialect({ term: "clip", aggregation: "token_mean", kl: "k3" }, [
    "TRL bnpo, dapo",
    "OpenRLHF with kl.use_loss and k3",
    "NeMo-RL with token_level_loss",
    "agentrl ppo, grpo",
  ]),
  dialect({ term: "clip", aggregation: "seq_mean_token_mean", kl: "k3" }, ["TRL grpo", "slime k3"]),
  dialect({ term: "clip", aggregation: "constant_max_length", kl: "k3" }, ["TRL dr_grpo"]),
  dialect({
    term: "clip",
    aggregation: "seq_mean_token_mean",
    kl: "k3",
    klAggregation: "token_mean",
  }, ["agentrl grpo with aggregation=seq_mean_token_mean"]),
  dialect({
    term: "clip",
    aggregation: "constant_max_length",
    kl: "k3",
    klAggregation: "token_mean",
  }, ["agentrl drgrpo"]),
  dialect({ term: "dual_clip", aggregation: "token_mean", kl: "k3_clamped" }, [
    "verl vanilla, token-mean, low_var_kl",
  ]),
  dialect({ term: "dual_clip", aggregation: "seq_mean_token_mean_nonempty", kl: "k3_clamped" }, [
    "verl vanilla, seq-mean-token-mean",
  ]),
  dialect({ term: "dual_clip", aggregation: "seq_mean_token_sum_nonempty", kl: "k3_clamped" }, [
    "verl vanilla, seq-mean-token-sum",
  ]),
  dialect({ term: "dual_clip", aggregation: "seq_mean_token_sum_norm", kl: "k3_clamped" }, [
    "verl vanilla, seq-mean-token-sum-norm (Dr. GRPO)",
  ]),
  dialect({ term: "gspo", aggregation: "seq_mean_token_mean", kl: "k3" }, [
    "TRL grpo with importance_sampling_level=sequence",
  ]),
  dialect({ term: "gspo", aggregation: "seq_mean_token_mean_nonempty", kl: "k3_clamped" }, [
    "verl gspo",
  ]),
  dialect({ term: "cispo", aggregation: "token_mean", kl: "k3_clamped" }, ["verl cispo"]),
  dialect({ term: "cispo_cap", aggregation: "token_mean", kl: "k3" }, ["TRL cispo"]),
  dialect({ term: "reinforce", aggregation: "seq_mean_token_sum", kl: "k3" }, [
    "REINFORCE as it is derived, KL alike",
  ]),
  dialect({
    term: "reinforce",
    aggregation: "seq_mean_token_sum",
    kl: "k3",
    klAggregation: "token_mean",
  }, ["agentrl reinforce, rloo"]),
];

/** The family. */
export const LOSS: Family = {
  name: "loss",
  sentence: "a whole loss, with its gradient for every log-prob",
  inputs: {
    logp: "log-prob under the policy in training [B, T]",
    oldLogp: "log-prob under the policy before the update [B, T]",
    refLogp: "log-prob under the reference [B, T]",
    advantage: "advantage, the same in all columns of a row [B, T]",
    mask: "1 where the loss trains on the token, else 0 [B, T]",
  },
  config: {
    clipLow: "the ratio is clipped from 1 − clipLow",
    clipHigh: "to 1 + clipHigh",
    dualClip: "c of the dual clip",
    ratioCap: "largest weight of TRL cispo",
    klCoef: "coefficient of the KL term",
    maxLength: "longest answer that the sampler allows, in tokens; not T",
  },
  outputs: {
    loss: "the loss, a scalar",
    dlogp: "gradient of the loss for each logp [B, T]",
  },
  tolerance: {
    relative: 2e-5,
    absolute: 2e-7,
    reason: "exponentials of log-ratios of float32 of up to 3, and sums of at most 40 terms",
  },
  cases: LOSS_CASES,
  dialects: LOSS_DIALECTS,
  mistakes: LOSS_MISTAKES,
};
