/** The invariants on a trainer that is not agentrl's: a policy without context, four logits, plain REINFORCE on the host. */
import {
  type CheckableTrainer,
  type CheckedEpisode,
  checkInvariants,
  type LossInputs,
  OWNER,
  randomSequence,
  STREAM,
  violated,
} from "agentrl";

const TOKENS = 4;
const EPISODES = 16;
const COLUMNS = 4;

interface Episode extends CheckedEpisode {
  readonly ids: readonly number[];
  readonly owners: readonly number[];
  readonly logps: readonly number[];
}

/** Log-probs of the four tokens. */
function logpsOf(weights: readonly number[]): number[] {
  const total = Math.log(weights.reduce((sum, weight) => sum + Math.exp(weight), 0));
  return weights.map((weight) => weight - total);
}

/** A prompt, two tokens of the policy, one of a tool, one of the policy; the reward counts token 0. */
function sampleEpisodes(weights: readonly number[]): Episode[] {
  const random = randomSequence({ seed: 1, stream: STREAM.experiment, step: 0 });
  const logps = logpsOf(weights);
  const draw = () => {
    let rest = random.uniform();
    const found = logps.findIndex((logp) => (rest -= Math.exp(logp)) < 0);
    return found < 0 ? TOKENS - 1 : found;
  };
  return Array.from({ length: EPISODES }, (_, b) => {
    const ids = [0, draw(), draw(), 1, draw()];
    const owners = [OWNER.prompt, OWNER.policy, OWNER.policy, OWNER.tool, OWNER.policy];
    const isOwn = (t: number) => owners[t] === OWNER.policy;
    return {
      ids,
      owners,
      logps: ids.map((id, t) => isOwn(t) ? logps[id] ?? NaN : 0),
      reward: ids.filter((id, t) => isOwn(t) && id === 0).length,
      problem: b % 4,
    };
  });
}

/** REINFORCE with each problem's mean as the baseline; `sign` −1 is the mistake that the invariants are to find. */
function makeTrainer(weights: readonly number[], sign: 1 | -1): CheckableTrainer {
  const episodes = sampleEpisodes(weights);
  const groupId_B = episodes.map(({ problem }) => Number(problem));
  const trained = episodes.length * 3;
  const grid = (columnCount: number, value: (episode: Episode, t: number) => number) =>
    episodes.flatMap((episode) =>
      Array.from({ length: columnCount }, (_, t) => value(episode, t + 1))
    );
  const logpGrid = (own: readonly number[], columnCount: number) => {
    const logps = logpsOf(own);
    return grid(columnCount, ({ ids }, t) => logps[ids[t] ?? -1] ?? 0);
  };
  const advantages = (groups_B: readonly number[]) => {
    const members = (group: number | undefined) =>
      episodes.filter((_, c) => groups_B[c] === group).map(({ reward }) => reward);
    return episodes.map(({ reward }, b) => {
      const rewards = members(groups_B[b]);
      return sign * (reward - rewards.reduce((sum, other) => sum + other, 0) / rewards.length);
    });
  };
  /** −Σ A log π / tokens over some episodes, by the logits. */
  const gradientOf = (advantage_B: readonly number[], from = 0, to = episodes.length) => {
    const probabilities = logpsOf(weights).map(Math.exp);
    return weights.map((_, w) => {
      let sum = 0;
      episodes.slice(from, to).forEach(({ ids, owners }, i) =>
        ids.forEach((id, t) => {
          if (owners[t] !== OWNER.policy) return;
          const slope = Number(id === w) - (probabilities[w] ?? NaN);
          sum -= (advantage_B[from + i] ?? NaN) * slope / trained;
        })
      );
      return sum;
    });
  };
  const stepped = (advantage_B: readonly number[]) => {
    const gradient = gradientOf(advantage_B);
    return weights.map((weight, w) => weight - 0.1 * (gradient[w] ?? NaN));
  };
  const lossInputs = (padColumns: number): LossInputs => {
    const columnCount = COLUMNS + padColumns;
    const logp_BC = logpGrid(weights, columnCount);
    const mask_BC = grid(columnCount, ({ owners }, t) => Number(owners[t] === OWNER.policy));
    const advantage_B = advantages(groupId_B);
    const loss = mask_BC.reduce(
      (sum, mask, cell) =>
        sum -
        mask * (advantage_B[Math.floor(cell / columnCount)] ?? NaN) * (logp_BC[cell] ?? NaN) /
          trained,
      0,
    );
    return { columnCount, mask_BC, oldLogp_BC: logp_BC, logp_BC, advantage_B, loss };
  };
  const halves = (advantage_B: readonly number[]) => {
    const second = gradientOf(advantage_B, EPISODES / 2);
    return gradientOf(advantage_B, 0, EPISODES / 2).map((first, w) => first + (second[w] ?? NaN));
  };
  return {
    episodes,
    groupId_B,
    stepsPerUpdate: 1,
    logpTolerance: 1e-12,
    lossInputs: (padColumns) => Promise.resolve(lossInputs(padColumns)),
    advantages,
    gradient: (kind) => {
      const advantage_B = advantages(groupId_B);
      return Promise.resolve(kind === "one-pass" ? gradientOf(advantage_B) : halves(advantage_B));
    },
    update: () =>
      Promise.resolve({
        approxKl: 0,
        largestGap: 0,
        logp_BC: logpGrid(stepped(advantages(groupId_B)), COLUMNS),
      }),
    updateWithoutSignal: () => {
      const after = stepped(episodes.map(() => 0));
      return Promise.resolve(
        Math.max(...after.map((weight, w) => Math.abs(weight - (weights[w] ?? NaN)))),
      );
    },
  };
}

const weights = [0.1, -0.2, 0.3, 0];
const right = await checkInvariants(makeTrainer(weights, 1));
const wrong = await checkInvariants(makeTrainer(weights, -1));
console.log(JSON.stringify({
  holding: right.filter(({ verdict }) => verdict === "holds").length,
  violatedByRight: violated(right),
  violatedByWrong: violated(wrong),
}));
