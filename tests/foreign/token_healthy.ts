/** Healthy dumps of our own recorded batches that look unusual. */
import { meanOf, stdOf } from "./recorded_batches.ts";
import {
  byGroup,
  byStep,
  isDrawn,
  remove,
  rewardsOf,
  turnEnds,
  turnsOf,
  type Variant,
  withSeparators,
} from "./token_variants.ts";

/** Healthy dumps that look unusual; of each nothing may be called violated or suspect. */
export const HEALTHY: Readonly<Record<string, Variant>> = {
  bf16_noise: {},
  exact: { kind: (kind) => ({ ...kind, noise: 0 }) },
  half_of_the_noise: { kind: (kind) => ({ ...kind, noise: 0.0075 }) },
  one_rank_of_two: {
    kind: (kind) => ({ ...kind, rankCount: 2 }),
    change: ({ drafts }) => drafts.filter(({ rank }) => rank === 0),
  },
  // A dump that lacks half of each group and does not say so.
  half_of_each_group: {
    kind: (kind) => ({ ...kind, rankCount: 0 }),
    change: ({ drafts }) => drafts.filter((_, i) => i % 2 === 0),
  },
  whitened_over_tokens: {
    change: ({ drafts }) => {
      for (const step of byStep(drafts)) {
        const tokens = step.flatMap(({ reward, mask }) =>
          mask.filter((flag) => flag === 1).map(() => reward)
        );
        const [mean, scale] = [meanOf(tokens), stdOf(tokens) + 1e-8];
        step.forEach((draft) => draft.advantage = (draft.reward - mean) / scale);
      }
    },
  },
  batch_baseline: {
    change: ({ drafts }) => {
      for (const step of byStep(drafts)) {
        const mean = meanOf(rewardsOf(step));
        step.forEach((draft) => draft.advantage = draft.reward - mean);
      }
    },
  },
  moving_baseline: {
    change: ({ drafts }) => drafts.forEach((draft) => draft.advantage = draft.reward - 0.137),
  },
  // ReMax: the reward of a greedy answer, one for each prompt.
  greedy_baseline: {
    change: ({ drafts }) =>
      byGroup(drafts).forEach((group, g) =>
        group.forEach((draft) => draft.advantage = draft.reward - Number(g % 3 === 0))
      ),
  },
  value_function: {
    finish: (sequences, { random }) =>
      sequences.map((sequence) => ({
        ...sequence,
        advantages: {
          values: Float64Array.from(sequence.ids, () => random.normal()),
          nonFinite: [],
        },
      })),
  },
  unscored: {
    finish: (sequences) =>
      sequences.map(({ reward: _reward, advantages: _advantages, ...rest }) => rest),
  },
  no_groups: {
    finish: (sequences) =>
      sequences.map(({ group: _group, sample: _sample, reward: _reward, ...rest }) => rest),
  },
  flat_groups_dropped: {
    change: ({ drafts }) => byGroup(drafts).filter((group) => stdOf(rewardsOf(group)) > 0).flat(),
  },
  all_groups_flat: {
    change: ({ drafts }) =>
      drafts.forEach((draft) => {
        draft.reward = 0;
        draft.advantage = 0;
      }),
  },
  cut_without_end: {
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        const isCut = random.uniform() < 0.3;
        if (isCut) remove(draft, draft.ids.length - 1);
        draft.more = { stop: isCut ? "length" : "end" };
      }),
  },
  cut_left_out_of_loss: {
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        if (random.uniform() < 0.2) draft.mask = draft.mask.map(() => 0);
      }),
  },
  only_last_turn_trained: {
    change: ({ drafts }) =>
      drafts.forEach((draft) => {
        const ends = turnEnds(draft);
        const from = ends.at(-2) ?? -1;
        draft.mask = draft.mask.map((flag, i) => i <= from ? 0 : flag);
      }),
  },
  turns_as_sequences: { change: ({ drafts }) => drafts.flatMap(turnsOf) },
  separators: { change: ({ drafts }) => drafts.forEach(withSeparators) },
  asynchronous: {
    // A third of the tokens of later steps were drawn by older weights, as the dump says.
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        const isOld = draft.step > 0 && random.uniform() < 0.3;
        if (isOld) {
          draft.sampler = draft.episode.scores.stale.map((value, i) =>
            isDrawn(draft, i) ? value : null
          );
        }
        draft.more = { weightVersions: Int32Array.from(draft.ids, () => isOld ? 0 : draft.step) };
      }),
  },
  off_policy_with_old: {
    // Old log-probs are the sampler's; the trainer has moved on within the step.
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        draft.old = draft.episode.scores.trainer.map((value) =>
          Math.min(0, value + 0.015 * random.normal())
        );
        draft.trainer = draft.episode.scores.trainer.map((value) => value + 0.08 * random.normal());
        draft.more = { phase: "post" };
      }),
  },
  denominator_of_tokens: {
    change: ({ drafts }) => {
      for (const step of byStep(drafts)) {
        const denominator = step.reduce(
          (sum, { mask }) => sum + mask.reduce((a, b) => a + b, 0),
          0,
        );
        step.forEach((draft) => draft.more = { loss: { aggregation: "token-mean", denominator } });
      }
    },
  },
  denominator_constant: {
    change: ({ drafts }) =>
      drafts.forEach((draft) =>
        draft.more = { loss: { aggregation: "seq-mean-token-sum-norm", denominator: 4096 } }
      ),
  },
  positions_restart: {
    change: ({ drafts, random }) =>
      drafts.forEach((draft) =>
        draft.more = {
          padding: { left: random.integer(9), right: random.integer(9) },
          offset: random.integer(3) * 100,
          positions: Uint32Array.from(draft.ids, (_, i) => i),
        }
      ),
  },
  fifty_tokens: {
    change: ({ drafts }) => {
      let count = 0;
      const ids = new Set(drafts.map(({ step, group }) => `${step} ${group}`));
      const [only] = ids;
      return drafts.filter(({ step, group, mask }) => {
        if (`${step} ${group}` !== only || count >= 50) return false;
        count += mask.reduce((a, b) => a + b, 0);
        return true;
      });
    },
  },
};
