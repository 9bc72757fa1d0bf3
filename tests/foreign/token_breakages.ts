/** Dumps of our own recorded batches, each broken in one way. */
import { advantagesOf, type Draft, END, meanOf, stdOf } from "./recorded_batches.ts";
import {
  byGroup,
  byStep,
  inNucleus,
  insert,
  isDrawn,
  moved,
  remove,
  rewardsOf,
  SEPARATOR,
  turnEnds,
  turnsOf,
  type Variant,
  withoutGroups,
  withSeparators,
} from "./token_variants.ts";

/** All ways to break a dump. */
export const BREAKAGES: Readonly<Record<string, Variant>> = {
  shift_later: {
    expected: "shifted_log_probs",
    change: ({ drafts }) => drafts.forEach((draft) => draft.trainer = moved(draft.trainer, 1, -4)),
  },
  shift_earlier: {
    expected: "shifted_log_probs",
    change: ({ drafts }) => drafts.forEach((draft) => draft.trainer = moved(draft.trainer, -1, -4)),
  },
  sampler_temperature: {
    expected: "temperature_mismatch",
    change: ({ drafts }) =>
      drafts.forEach((draft) =>
        draft.sampler = draft.episode.scores.cold.map((value, i) =>
          isDrawn(draft, i) ? value : null
        )
      ),
  },
  sampler_top_p: {
    expected: "top_p_mismatch",
    change: ({ drafts }) => {
      const kept = drafts.filter(inNucleus);
      for (const draft of kept) {
        draft.sampler = draft.episode.scores.nucleus.map((value, i) =>
          isDrawn(draft, i) ? value : null
        );
      }
      return kept;
    },
    finish: withoutGroups,
  },
  mask_early: {
    expected: "mask_on_unsampled",
    change: ({ drafts }) => drafts.forEach((draft) => draft.mask = moved(draft.mask, -1, 0)),
  },
  mask_late: {
    expected: "mask_on_unsampled",
    or: ["mask_leaves_out"],
    change: ({ drafts }) => drafts.forEach((draft) => draft.mask = moved(draft.mask, 1, 0)),
  },
  groups_merged: {
    expected: "groups_merged",
    change: ({ drafts, kind }) => {
      for (const step of byStep(drafts)) {
        const groups = byGroup(step);
        for (let g = 0; g + 1 < groups.length - 2; g += 2) {
          const both = [...groups[g], ...groups[g + 1]];
          const advantages = advantagesOf(rewardsOf(both), kind.advantages);
          both.forEach((draft, i) => draft.advantage = advantages[i]);
        }
      }
    },
  },
  group_names_collide: {
    expected: "groups_merged",
    change: ({ drafts, kind }) => {
      for (const step of byStep(drafts)) {
        const groups = byGroup(step);
        const both = [...groups[0], ...groups[1]];
        const advantages = advantagesOf(rewardsOf(both), kind.advantages);
        both.forEach((draft, i) => {
          draft.advantage = advantages[i];
          draft.group = groups[0][0].group;
        });
      }
    },
  },
  ragged_global_baseline: {
    expected: "advantage_not_centred",
    or: ["group_size_wrong"],
    kind: (kind) => ({ ...kind, rankCount: 0 }),
    change: ({ drafts, random }) => {
      const kept = byGroup(drafts).flatMap((group, g) =>
        group.slice(0, g % 3 === 1 ? group.length - 1 - random.integer(2) : group.length)
      );
      for (const step of byStep(kept)) {
        const mean = meanOf(rewardsOf(step));
        step.forEach((draft) => draft.advantage = draft.reward - mean);
      }
      return kept;
    },
  },
  ragged_reshape: {
    expected: "group_size_wrong",
    or: ["advantage_not_centred", "same_reward_different_advantage"],
    kind: (kind) => ({ ...kind, rankCount: 0 }),
    change: ({ drafts, kind }) => {
      const kept = byGroup(drafts).flatMap((group, g) => g % 3 === 1 ? group.slice(1) : group);
      for (const step of byStep(kept)) {
        for (let from = 0; from < step.length; from += 8) {
          const slice = step.slice(from, from + 8);
          const advantages = slice.length < 2
            ? [0]
            : advantagesOf(rewardsOf(slice), kind.advantages);
          slice.forEach((draft, i) => draft.advantage = advantages[i]);
        }
      }
      return kept;
    },
  },
  std_over_batch: {
    expected: "advantage_scale",
    change: ({ drafts }) => {
      for (const step of byStep(drafts)) {
        const scale = stdOf(rewardsOf(step)) + 1e-4;
        for (const group of byGroup(step)) {
          const mean = meanOf(rewardsOf(group));
          group.forEach((draft) => draft.advantage = (draft.reward - mean) / scale);
        }
      }
    },
  },
  positions_count_padding: {
    expected: "padding_dependent",
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        const left = 1 + random.integer(20);
        draft.more = {
          padding: { left, right: 0 },
          positions: Uint32Array.from(draft.ids, (_, i) => left + i),
        };
      }),
  },
  padding_is_seen: {
    expected: "padding_dependent",
    // Each sequence once more, in a packing where padding stands before it.
    change: ({ drafts, random }) => {
      const again = drafts.filter(() => random.uniform() < 0.3).map((draft): Draft => ({
        ...draft,
        trainer: draft.episode.scores.padded.map((value) => value + 0.01 * random.normal()),
        more: { file: "padded.jsonl", padding: { left: 7, right: 0 } },
      }));
      return [...drafts, ...again];
    },
  },
  retokenised_turn: {
    expected: "prefix_broken",
    change: ({ drafts }) =>
      drafts.flatMap((draft) => {
        const turns = turnsOf(draft);
        for (const turn of turns.slice(1)) {
          // The first turn's operation comes back as two ids.
          const [first] = turnEnds(draft);
          insert(turn, first - 1, 81);
          turn.ids[first - 1] = 80;
        }
        return turns;
      }),
  },
  separator_lost_between_turns: {
    expected: "prefix_broken",
    change: ({ drafts, random: _random }) =>
      drafts.flatMap((draft) => {
        withSeparators(draft);
        const turns = turnsOf(draft);
        return turns.map((turn, t) => {
          if (t === 0) {
            insert(turn, turn.ids.length - 1, SEPARATOR);
            return turn;
          }
          for (let i = turn.ids.length - 1; i > 3; i--) {
            if (turn.ids[i] === SEPARATOR) remove(turn, i);
          }
          return turn;
        });
      }),
  },
  separator_lost_inside: {
    expected: "prefix_broken",
    change: ({ drafts }) =>
      drafts.forEach((draft) => {
        withSeparators(draft);
        for (let i = draft.ids.length - 1; i > 3; i--) {
          if (draft.ids[i] === SEPARATOR) remove(draft, i);
        }
      }),
  },
  end_not_trained: {
    expected: "mask_leaves_out",
    change: ({ drafts }) =>
      drafts.forEach((draft) => turnEnds(draft).forEach((end) => draft.mask[end] = 0)),
  },
  forced_end: {
    expected: "forced_end",
    change: ({ drafts, random }) =>
      drafts.forEach((draft) => {
        if (random.uniform() > 0.25) return;
        const last = draft.ids.length - 1;
        // Cut inside the last turn, and closed by what nobody drew.
        remove(draft, last - 1, 1);
        const end = draft.ids.length - 1;
        draft.ids[end] = END;
        draft.drawn[end] = 0;
        draft.roles[end] = 4;
        draft.sampler[end] = null;
        draft.trainer[end] = -5.5;
        draft.more = { stop: "length" };
      }),
  },
  denominator_counts_masked: {
    expected: "normaliser_wrong",
    change: ({ drafts }) => {
      for (const step of byStep(drafts)) {
        const denominator = step.reduce(
          (sum, { ids, drawn }) => sum + ids.length - drawn.indexOf(1),
          0,
        );
        step.forEach((draft) => draft.more = { loss: { aggregation: "token-mean", denominator } });
      }
    },
  },
  stale_weights: {
    expected: "stale_weights",
    change: ({ drafts }) =>
      drafts.forEach((draft) =>
        draft.sampler = draft.episode.scores.stale.map((value, i) =>
          isDrawn(draft, i) ? value : null
        )
      ),
  },
  nan_token: {
    expected: "non_finite_token",
    change: ({ drafts, random }) => {
      const draft = drafts[random.integer(drafts.length)];
      const tokens = draft.mask.flatMap((flag, i) => flag === 1 ? [i] : []);
      draft.trainer[tokens[random.integer(tokens.length)]] = random.uniform() < 0.5
        ? NaN
        : -Infinity;
    },
  },
  duplicated_ranks: {
    expected: "duplicate_samples",
    change: ({ drafts }) =>
      drafts.flatMap((
        draft,
      ) => [{ ...draft, rank: 0 }, { ...draft, rank: 1, sample: `${draft.sample}b` }]),
  },
  advantages_shuffled: {
    expected: "same_reward_different_advantage",
    or: ["advantage_not_centred"],
    change: ({ drafts, random }) => {
      for (const step of byStep(drafts)) {
        const order = random.permutation(step.length);
        const advantages = order.map((i) => step[i].advantage);
        step.forEach((draft, i) => draft.advantage = advantages[i]);
      }
    },
  },
  old_of_other_weights: {
    expected: "old_is_not_sampler",
    change: ({ drafts, random }) =>
      drafts.forEach((draft) =>
        draft.old = draft.episode.scores.stale.map((value) => value + 0.01 * random.normal())
      ),
  },
  old_at_other_mask: {
    expected: "ratio_not_one_at_start",
    or: ["old_is_not_sampler"],
    change: ({ drafts }) =>
      drafts.forEach((draft) => {
        draft.old = draft.episode.scores.padded.map((value, i) =>
          value + 0.3 * Number(i % 2 === 0)
        );
        draft.more = { phase: "pre" };
      }),
  },
  group_of_one_keeps_reward: {
    expected: "group_of_one",
    kind: (kind) => ({ ...kind, rankCount: 0 }),
    change: ({ drafts }) => {
      let count = 0;
      return byGroup(drafts).flatMap((group) => {
        const paid = group.find(({ reward }) => reward > 0);
        if (!paid || count >= 3) return group;
        count++;
        paid.advantage = paid.reward;
        return [paid];
      });
    },
  },
  rewards_to_wrong_samples: {
    expected: "reward_scored_elsewhere",
    change: ({ drafts, random }) => {
      for (const group of byGroup(drafts)) {
        const rewards = random.permutation(group.length).map((i) => group[i].reward);
        group.forEach((draft, i) => draft.reward = rewards[i]);
      }
    },
  },
  errors_paid: {
    expected: "errors_paid_as_zero",
    change: ({ drafts, random }) => {
      for (const draft of drafts) {
        const isError = random.uniform() < 0.05 && draft.reward === 0 && draft.advantage !== 0;
        draft.more = {
          stop: isError ? "error" : "end",
          stopText: isError ? "sandbox_timeout" : "stop",
        };
      }
      const error = drafts.find(({ reward, advantage }) => reward === 0 && advantage !== 0);
      if (error) error.more = { stop: "error", stopText: "sandbox_timeout" };
    },
  },
  length_counts_tools: {
    expected: "lengths_disagree",
    change: ({ drafts }) =>
      drafts.forEach((draft) =>
        draft.more = { answerLength: draft.ids.length - draft.drawn.indexOf(1) }
      ),
  },
  one_token_explodes: {
    expected: "kl_outliers",
    change: ({ drafts, random }) => {
      const draft = drafts[random.integer(drafts.length)];
      const tokens = draft.mask.flatMap((flag, i) => flag === 1 ? [i] : []);
      const token = tokens[random.integer(tokens.length)];
      draft.sampler[token] = -15;
    },
  },
};
