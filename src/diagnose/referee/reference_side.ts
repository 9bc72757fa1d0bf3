/** The reference beside the folder that it should be: whether it is where the policy began. */
import { mean } from "../../core/statistics.ts";
import { klTerm } from "../../equations/policy_loss.ts";
import type { Finding } from "../finding.ts";
import { sayNats } from "./referee_words.ts";
import type { GapExplanation } from "./hypotheses.ts";
import type { GapFigures } from "./gap_figures.ts";
import type { GapToken, ScoredSequence } from "./own_scores.ts";

interface ReferenceSide {
  readonly side: "sampler" | "old" | "trainer" | "reference";
  readonly comparedWith: "model" | "reference";
  readonly figures: GapFigures;
  readonly explainedBy: GapExplanation | null;
  readonly tokens: readonly GapToken[];
}

/** A dump's reference that is nearer to the policy than so large a share of what the folders differ by is the policy. */
const SAME_SHARE = 0.1;

/** What policy and reference differ by at the reference's tokens: of both folders, and of policy and dump. */
function distances(side: ReferenceSide, own: readonly ScoredSequence[]) {
  const policy = side.tokens.map(({ sequence, token }) => own[sequence].own.logp[token - 1]);
  const absolute = (values: readonly number[]) => mean(values.map(Math.abs));
  const folders = side.tokens.map((token, n) => policy[n] - token.own);
  const dump = side.tokens.map((token, n) => policy[n] - token.side);
  return {
    folders: absolute(folders),
    dump: absolute(dump),
    kl: mean(folders.map((difference) => klTerm("k3", difference).value)),
    dumpKl: mean(dump.map((difference) => klTerm("k3", difference).value)),
  };
}

/**
 * Findings about the reference.
 *
 * @param options.own The policy's scores.
 * @param options.finding Makes the finding of a side that is off.
 */
export function referenceFindings<Side extends ReferenceSide>(
  side: Side | undefined,
  { own, finding }: {
    readonly own: readonly ScoredSequence[];
    readonly finding: (side: Side) => Finding;
  },
): Finding[] {
  if (side === undefined) return [];
  const { explainedBy, comparedWith, figures } = side;
  const isRounding = explainedBy === null || explainedBy.cause === "bf16_noise" ||
    explainedBy.cause === "f16_noise";
  if (comparedWith === "model") {
    if (isRounding) return [];
    return [{
      id: "reference_off",
      class: "not-checkable",
      sentence: `Not checked: the reference. It differs from the model by ${
        sayNats(figures.meanNats)
      } nats, as it should after the first steps.`,
      next: "Give the folder of the reference as well.",
    }];
  }
  const { folders, dump, kl, dumpKl } = distances(side, own);
  const words = `KL of policy and reference is ${sayNats(kl)} nats by the two folders and ${
    sayNats(dumpKl)
  } by the dump's reference (k3)`;
  const measures = { kl, dumpKl };
  const id = "reference_is_not_start";
  if (isRounding) {
    return [{
      id,
      class: "holds",
      sentence: `The dump's reference is the reference folder; ${words}.`,
      measures,
    }];
  }
  if (dump <= SAME_SHARE * folders) {
    return [finding(side), {
      id,
      class: "violated",
      sentence: `The dump's reference is the policy itself, within ${
        sayNats(dump)
      } nats, and not the reference folder; ${words}.`,
      next: "Score the KL term with the frozen weights that training began with.",
      measures,
    }];
  }
  return [{ ...finding(side), measures: { ...finding(side).measures, ...measures } }];
}
