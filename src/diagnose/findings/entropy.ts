/** Rules about the entropy: a collapse before the task is solved, and a policy that degenerates. */
import type { Finding } from "../finding.ts";
import { type Change, changeOf, type Curve, lastQuarter, middle, say } from "./curve.ts";
import { about, type Context, outcomeOf, type Rule } from "./rule.ts";
import { flatnessOf, isAtTop } from "./signal.ts";

/** What is left of the entropy when a policy has made up its mind about nearly every token. */
const COLLAPSED = 0.15;
/** An entropy three times that of the start is another policy. */
const EXPLODED = 3;

/** Standard errors below which a rise of the reward is not a sign of learning. */
const NO_SIGN = 1.5;
/** Share of what a reward between 0 and 1 could still gain. */
const LITTLE_OF_THE_REST = 0.3;

/**
 * Where the reward is too noisy to tell by itself: most groups have become flat, or next to all entropy is gone for a gain
 * that is at most a small part of what was left to gain.
 */
function isDulled(context: Context, entropy: Change): boolean {
  const { reward, rewardChange: change } = context;
  if (!reward || !change || change.z >= NO_SIGN) return false;
  const flatness = flatnessOf(context);
  const flat = flatness && changeOf({ ...flatness.curve, values: flatness.shares });
  if (flat && flat.tail >= 0.8 && flat.tail - flat.head >= 0.3) return true;
  const isShare = reward.values.every((value) => value >= 0 && value <= 1);
  const most = change.tail - change.head + 1.64 * change.error;
  return isShare && entropy.tail <= 0.1 * entropy.head &&
    most <= LITTLE_OF_THE_REST * (1 - change.head);
}

function entropyTrend(context: Context, entropy: Curve): readonly Finding[] {
  const change = changeOf(entropy);
  if (!change || change.head <= 0) return [];
  const { head, tail, isApart, tailStep } = change;
  const came = outcomeOf(context.rewardChange);
  const common = { ...about(entropy), step: tailStep, value: tail };
  const reward = context.rewardChange;
  const rewardMoved = reward ? `${say(reward.head)} to ${say(reward.tail)}` : "not in the log";
  if (tail <= COLLAPSED * head && isApart) {
    const bound = { bound: COLLAPSED * head, boundFrom: "0.15 times the run's own first fifth" };
    const fell = `${entropy.key} falls from ${say(head)} to ${say(tail)}`;
    if (came === "better" || isAtTop(context)) {
      return [{
        ...common,
        ...bound,
        id: "entropy_collapse",
        class: "holds",
        sentence:
          `${fell} while the reward rises (${rewardMoved}): the policy has learned what to do, which is not a collapse.`,
      }];
    }
    if (came === "unknown" || (came === "unclear" && !isDulled(context, change))) {
      return [{
        ...common,
        ...bound,
        id: "entropy_collapse",
        class: "note",
        sentence: `${fell}, and the reward ${
          reward ? `is too noisy to tell (${rewardMoved})` : "is not in the log"
        }: nothing shows whether the policy has learned or collapsed.`,
      }];
    }
    const flatness = flatnessOf(context);
    const flat = flatness &&
      middle(lastQuarter({ ...flatness.curve, values: flatness.shares }).values);
    return [{
      ...common,
      ...bound,
      id: "entropy_collapse",
      class: "suspect",
      sentence: `${fell}, and the reward does not rise (${rewardMoved})${
        flat !== undefined && flat > 0.5 ? "; most groups have equal rewards by then" : ""
      }: the policy has stopped exploring before it found what pays.`,
      alternatives: [
        "the policy had solved these tasks before the run began",
        "an entropy bonus with the wrong sign",
        "a sampler that draws at a lower temperature than the trainer scores at",
        "a learning rate that is too high",
      ],
      next: `Go back to a checkpoint before the fall; check ${
        context.knob("temperature", "the sampling temperature")
      } on both sides, then raise ${
        context.knob("entropyCoef", "the entropy bonus")
      } or the upper ${context.knob("clipRange", "clip range")}.`,
    }];
  }
  if (tail >= EXPLODED * head && isApart) {
    const isBad = came === "worse" || came === "same";
    return [{
      ...common,
      id: "entropy_explosion",
      class: isBad ? "suspect" : "note",
      bound: EXPLODED * head,
      boundFrom: "three times the run's own first fifth",
      sentence: `${entropy.key} rises from ${say(head)} to ${
        say(tail)
      } with the reward at ${rewardMoved}${isBad ? ": the policy degenerates into noise" : ""}.`,
      ...(isBad
        ? {
          alternatives: [
            "an entropy bonus that outweighs the reward",
            "trained tokens that the policy did not write (a shifted mask)",
            "updates that are too large",
          ],
          next: `Lower ${context.knob("entropyCoef", "the entropy bonus")} or ${
            context.knob("learningRate", "the learning rate")
          }, and read the answers of the last steps.`,
        }
        : {}),
    }];
  }
  return [];
}

/** In the order in which they are tried. */
export const ENTROPY_RULES: readonly Rule[] = [
  {
    ids: ["entropy_collapse", "entropy_explosion"],
    needs: [{ metric: "entropy", quantity: ["full", "sampled", "chosen_at_runtime"] }],
    without: {
      need: "entropy",
      sentence: "whether the policy still explores: the entropy is not in the log",
    },
    judge: entropyTrend,
  },
];
