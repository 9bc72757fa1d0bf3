/** Our own recorded batches as healthy token dumps, as different trainers would have written them. */
import { OWNER } from "../../src/core/owner.ts";
import { type RandomSequence, randomSequence, STREAM } from "../../src/core/rng.ts";
import { readTensorFile } from "../../src/files/tensor_file.ts";
import type { TokenBatch, TokenSequence, TokenValues } from "../../src/tokens/token_batch.ts";

/** What an episode's tokens are scored by whom. */
export type Scores = "sampler" | "trainer" | "entropy" | "nucleus" | "cold" | "stale" | "padded";

const SCORES: readonly Scores[] = [
  "sampler",
  "trainer",
  "entropy",
  "nucleus",
  "cold",
  "stale",
  "padded",
];

/** A recorded episode; value i is about token i. */
export interface Episode {
  readonly step: number;
  readonly group: number;
  readonly reward: number;
  readonly ids: readonly number[];
  readonly owners: readonly number[];
  readonly scores: Readonly<Record<Scores, readonly number[]>>;
}

/** The id that ends each turn of the policy. */
export const END = 3;

const FILE = new URL("recorded_batches.safetensors", import.meta.url);

/** All recorded episodes. */
export function readEpisodes(): Episode[] {
  const { tensors } = readTensorFile(FILE.pathname);
  const column = (name: string) => Array.from(tensors.get(name)?.data ?? []);
  const [lengths, steps, groups, rewards] = ["length", "step", "group", "reward"].map(column);
  const [ids, owners] = ["id", "owner"].map(column);
  const scores = SCORES.map((name) => [name, column(name)] as const);
  let from = 0;
  return lengths.map((length, e): Episode => {
    const until = from + length;
    const episode: Episode = {
      step: steps[e],
      group: groups[e],
      reward: rewards[e],
      ids: ids.slice(from, until),
      owners: owners.slice(from, until),
      scores: Object.fromEntries(
        scores.map(([name, values]) => [name, values.slice(from, until)]),
      ) as unknown as Episode["scores"],
    };
    from = until;
    return episode;
  });
}

/** How a trainer computes advantages in a group. */
export type Advantages = "grpo" | "drgrpo" | "rloo";

/** How a dump says which tokens the policy drew. */
export type Telling = "sampled" | "roles" | "zeros" | "nulls";

/** What a healthy dump is like. */
export interface Kind {
  readonly seed: number;
  /** Mean |difference| of sampler and trainer, in nats. */
  readonly noise: number;
  readonly advantages: Advantages;
  readonly telling: Telling;
  readonly hasEntropy: boolean;
  /** Ranks that the batch is split over; 0 where sequences do not say. */
  readonly rankCount: number;
}

const ADVANTAGES: readonly Advantages[] = ["grpo", "drgrpo", "rloo"];
const TELLINGS: readonly Telling[] = ["zeros", "sampled", "nulls", "roles"];

/** Seeds go through all combinations. */
export function kindOf(seed: number): Kind {
  return {
    seed,
    noise: 0.015,
    advantages: ADVANTAGES[seed % 3],
    telling: TELLINGS[seed % 4],
    hasEntropy: seed % 2 === 0,
    rankCount: [0, 2, 4][seed % 3],
  };
}

/** Values of tokens, with NaN and infinite ones that are not null listed. */
export function tokenValues(values: readonly (number | null)[]): TokenValues {
  return {
    values: Float64Array.from(values, (value) => value ?? NaN),
    nonFinite: values.flatMap((value, i) => value !== null && !Number.isFinite(value) ? [i] : []),
  };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function stdOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1),
  );
}

/** Advantages of a group's rewards. */
export function advantagesOf(rewards: readonly number[], kind: Advantages): number[] {
  const mean = meanOf(rewards), n = rewards.length;
  const scale = kind === "grpo" ? 1 / (stdOf(rewards) + 1e-4) : kind === "rloo" ? n / (n - 1) : 1;
  return rewards.map((reward) => (reward - mean) * scale);
}

/** An episode of a dump that is being made: tests break it before it is written. */
export interface Draft {
  readonly episode: Episode;
  step: number;
  group: string;
  sample: string;
  reward: number;
  advantage: number;
  rank: number | undefined;
  ids: number[];
  mask: number[];
  drawn: number[];
  roles: number[];
  sampler: (number | null)[];
  trainer: (number | null)[];
  entropy: (number | null)[];
  old?: (number | null)[];
  more?: Partial<TokenSequence>;
}

const ROLE_OF_OWNER: Readonly<Record<number, number>> = {
  [OWNER.prompt]: 1,
  [OWNER.policy]: 2,
  [OWNER.tool]: 3,
};

/** Noise of a pair of engines: constant, or larger where a token is unsure, as rounding of logits is; its mean |value| is told. */
function noiseOf(
  random: RandomSequence,
  logProbs: readonly number[],
  { noise, seed }: Kind,
): number[] {
  const weights = logProbs.map((logProb) =>
    seed % 2 === 0 ? 1 : Math.max(0.05, 1 - Math.exp(logProb))
  );
  const scale = noise * Math.sqrt(Math.PI / 2) / meanOf(weights);
  return weights.map((weight) => weight * scale * random.normal());
}

/** Draws a healthy batch: a few groups of each recorded step. */
export function draftsOf(episodes: readonly Episode[], kind: Kind): Draft[] {
  const random = randomSequence({ seed: kind.seed, stream: STREAM.experiment });
  const steps = [...new Set(episodes.map(({ step }) => step))];
  return steps.flatMap((step) => {
    const chosen = random.permutation(8).slice(0, 6).sort();
    return chosen.flatMap((group): Draft[] => {
      const members = episodes.filter((one) => one.step === step && one.group === group);
      const advantages = advantagesOf(members.map(({ reward }) => reward), kind.advantages);
      return members.map((episode, i): Draft => {
        const { ids, owners, scores } = episode;
        const noise = noiseOf(random, scores.trainer, kind);
        const drawn = owners.map((owner) => Number(owner === OWNER.policy));
        return {
          episode,
          step,
          group: `g${group}`,
          sample: `${step}.${group}.${i}`,
          reward: episode.reward,
          advantage: advantages[i],
          rank: kind.rankCount === 0 ? undefined : i % kind.rankCount,
          // Names are hidden in these prompts: groups get one each.
          ids: ids.map((id, i) => i === 1 ? 100 + group : id),
          mask: [...drawn],
          drawn,
          roles: owners.map((owner) => ROLE_OF_OWNER[owner] ?? 4),
          sampler: scores.sampler.map((value, t) => drawn[t] === 1 ? value : null),
          trainer: scores.trainer.map((value, t) => Math.min(0, value + noise[t])),
          entropy: [...scores.entropy],
        };
      });
    });
  });
}

/** Writes drafts as the sequences of a dump. */
export function sequencesOf(
  drafts: readonly Draft[],
  { telling, hasEntropy }: Kind,
): TokenSequence[] {
  return drafts.map((draft, index): TokenSequence => ({
    file: "dump.jsonl",
    row: index + 1,
    offset: 0,
    step: draft.step,
    group: draft.group,
    sample: draft.sample,
    reward: draft.reward,
    ...(draft.rank === undefined ? {} : { rank: draft.rank }),
    ids: Uint32Array.from(draft.ids),
    mask: Uint8Array.from(draft.mask),
    ...(telling === "sampled" ? { sampled: Uint8Array.from(draft.drawn) } : {}),
    ...(telling === "roles" ? { roles: Uint8Array.from(draft.roles) } : {}),
    logProbs: {
      sampler: tokenValues(
        telling === "zeros" ? draft.sampler.map((value) => value ?? 0) : draft.sampler,
      ),
      trainer: tokenValues(draft.trainer),
      ...(draft.old ? { old: tokenValues(draft.old) } : {}),
    },
    ...(hasEntropy ? { entropy: tokenValues(draft.entropy) } : {}),
    advantages: tokenValues(draft.ids.map(() => draft.advantage)),
    ...draft.more,
  }));
}

/** A dump of sequences, in their order. */
export function batchOf(sequences: readonly TokenSequence[], producer?: string): TokenBatch {
  return {
    source: {
      path: "dump.jsonl",
      form: "common_dump",
      producer,
      files: ["dump.jsonl"],
      ignored: [],
    },
    async *sequences() {
      for (const sequence of sequences) yield await Promise.resolve(sequence);
    },
  };
}
