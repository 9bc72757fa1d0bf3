/**
 * The repair MDP: repairing a program as a Markov decision process so small that everything about it is known exactly.
 *
 * Seven states, four actions, one absorbing end; float64 throughout. It is what estimators of the policy gradient are
 * compared with. S = 7 states, A = 4 actions, B episodes.
 *
 *   state      the program    what is known of it                     an edit repairs it with
 *   unread     buggy          nothing; every episode starts here      0.2  (one of five operations, blindly)
 *   read       buggy          the line that matters was read          0.8
 *   missed     buggy          an edit was made that did not repair    0.2
 *   failing    buggy          a test has failed                       0.4
 *   fixed      repaired       an edit was made that did repair        breaks it with 0.2 (then: missed)
 *   verified   repaired       a test has passed                       breaks it with 0.2 (then: missed)
 *   done       -              absorbing
 *
 * `read` leads from a buggy state to `read`; `test` leads to `failing` or `verified`, but for `read`, which stays (it
 * knows more already). Each of these actions exhausts the budget with probability 1/8 and then ends the episode.
 * `submit` ends it with reward 1 where the program is repaired, else 0; nothing else is rewarded, so J is the pass rate.
 */

/** The states; `done` is absorbing. */
export const REPAIR_STATES = [
  "unread",
  "read",
  "missed",
  "failing",
  "fixed",
  "verified",
  "done",
] as const;
/** The actions. */
export const REPAIR_ACTIONS = ["read", "edit", "test", "submit"] as const;

const S = REPAIR_STATES.length;
const A = REPAIR_ACTIONS.length;
const [UNREAD, READ, MISSED, FAILING, FIXED, VERIFIED, DONE] = [0, 1, 2, 3, 4, 5, 6];
const [ACT_READ, ACT_EDIT, ACT_TEST, ACT_SUBMIT] = [0, 1, 2, 3];

/** Chosen so that a softmax policy over logits 0.5 N(0, 1) passes in about 13 of 100 episodes (90 %: 7 to 20). */
const BUDGET_EXHAUSTED = 1 / 8;
const REPAIR_PROBABILITY = { [UNREAD]: 0.2, [READ]: 0.8, [MISSED]: 0.2, [FAILING]: 0.4 };
const BREAK_PROBABILITY = 0.2;

/** The transition probabilities and the rewards, row-major. */
export interface RepairMdp {
  /** [S, A, S]: probability of the next state; each row sums to 1. */
  readonly transition_SAS: Float64Array;
  /** [S, A]: the expected reward of an action, 0 or 1. */
  readonly reward_SA: Float64Array;
}

/** The repair MDP as tables. */
export function makeRepairMdp(): RepairMdp {
  const transition_SAS = new Float64Array(S * A * S);
  const reward_SA = new Float64Array(S * A);
  const add = (state: number, action: number, next: number, probability: number) => {
    const i = (state * A + action) * S;
    transition_SAS[i + next] += probability;
  };
  const goOn = (state: number, action: number, nexts: readonly (readonly [number, number])[]) => {
    add(state, action, DONE, BUDGET_EXHAUSTED);
    for (const [next, share] of nexts) add(state, action, next, (1 - BUDGET_EXHAUSTED) * share);
  };
  for (const state of [UNREAD, READ, MISSED, FAILING] as const) {
    const hit = REPAIR_PROBABILITY[state];
    goOn(state, ACT_READ, [[READ, 1]]);
    goOn(state, ACT_EDIT, [[FIXED, hit], [MISSED, 1 - hit]]);
    goOn(state, ACT_TEST, [[state === READ ? READ : FAILING, 1]]);
  }
  for (const state of [FIXED, VERIFIED] as const) {
    goOn(state, ACT_READ, [[state, 1]]);
    goOn(state, ACT_EDIT, [[FIXED, 1 - BREAK_PROBABILITY], [MISSED, BREAK_PROBABILITY]]);
    goOn(state, ACT_TEST, [[VERIFIED, 1]]);
    reward_SA[state * A + ACT_SUBMIT] = 1;
  }
  for (let state = 0; state < DONE; state++) add(state, ACT_SUBMIT, DONE, 1);
  for (let action = 0; action < A; action++) add(DONE, action, DONE, 1);
  return { transition_SAS, reward_SA };
}

/**
 * π(a | s) = exp(θ_sa) / Σ_b exp(θ_sb).
 *
 * @param logits_SA θ, row-major.
 * @returns policy_SA; each row sums to 1.
 * @throws {RangeError} When there are not S·A finite logits.
 */
export function softmaxPolicy(logits_SA: Float64Array): Float64Array {
  if (logits_SA.length !== S * A || !logits_SA.every(Number.isFinite)) {
    throw new RangeError(
      `Cannot make a policy of ${logits_SA.length} logits: ${
        S * A
      } finite ones (7 states, 4 actions) are required`,
    );
  }
  const policy_SA = new Float64Array(S * A);
  for (let state = 0; state < S; state++) {
    const logits_A = logits_SA.subarray(state * A, (state + 1) * A);
    const max = Math.max(...logits_A);
    const weights_A = logits_A.map((logit) => Math.exp(logit - max));
    const sum = weights_A.reduce((a, b) => a + b, 0);
    policy_SA.set(weights_A.map((weight) => weight / sum), state * A);
  }
  return policy_SA;
}

/** What is known exactly of a policy in the repair MDP, undiscounted. */
export interface PolicyEvaluation {
  /** J = V(unread): the expected return, here the pass rate. */
  readonly j: number;
  /** [S]: the expected return from a state. */
  readonly value_S: Float64Array;
  /** [S, A]: the expected return after an action in a state. */
  readonly q_SA: Float64Array;
  /** [S]: the expected number of times an episode is in a state; 0 for `done`. */
  readonly visits_S: Float64Array;
}

/**
 * Exact policy evaluation: V = (I - P_π)⁻¹ r_π, Q(s, a) = R(s, a) + Σ_t P(t | s, a) V(t), and the expected visits
 * d = (I - P_πᵀ)⁻¹ e_unread, over the states that are not absorbing (Sutton and Barto 2018, chapter 4).
 *
 * @param mdp The tables.
 * @param policy_SA A policy, row-major; each row sums to 1.
 */
export function evaluatePolicy(mdp: RepairMdp, policy_SA: Float64Array): PolicyEvaluation {
  const { transition_SAS, reward_SA } = mdp;
  const actions = REPAIR_ACTIONS.map((_, action) => action);
  // The matrix I - P_π and r_π; `done` is left out, so the matrix has an inverse.
  const states = REPAIR_STATES.map((_, state) => state).filter((state) => state !== DONE);
  const sumOver = (state: number, term: (row: number) => number) =>
    actions.reduce((sum, a) => sum + policy_SA[state * A + a] * term(state * A + a), 0);
  const matrix = states.map((s) =>
    states.map((t) => Number(s === t) - sumOver(s, (row) => transition_SAS[row * S + t]))
  );
  const transposed = states.map((s) => states.map((t) => matrix[t][s]));
  const value = solve(matrix, states.map((s) => sumOver(s, (row) => reward_SA[row])));
  const visits = solve(transposed, states.map((s) => Number(s === UNREAD)));
  const value_S = Float64Array.from([...value, 0]);
  const q_SA = reward_SA.map((reward, row) =>
    value_S.reduce((sum, v, t) => sum + transition_SAS[row * S + t] * v, reward)
  );
  return { j: value_S[UNREAD], value_S, q_SA, visits_S: Float64Array.from([...visits, 0]) };
}

/** x with matrix · x = right, by Gauss-Jordan elimination with partial pivoting. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const n = rows.length;
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row;
    }
    [rows[pivot], rows[column]] = [rows[column], rows[pivot]];
    for (let row = 0; row < n; row++) {
      if (row === column) continue;
      const factor = rows[row][column] / rows[column][column];
      rows[row] = rows[row].map((x, k) => x - factor * rows[column][k]);
    }
  }
  return rows.map((row, i) => row[n] / row[i]);
}

/**
 * The exact gradient of J with respect to the logits of a softmax policy, by the policy gradient theorem:
 * ∂J/∂θ_sa = d(s) π(a | s) (Q(s, a) - V(s)) (Sutton et al. 2000).
 *
 * @param mdp The tables.
 * @param logits_SA θ, row-major.
 * @returns dlogits_SA; each row sums to 0.
 */
export function policyGradient(mdp: RepairMdp, logits_SA: Float64Array): Float64Array {
  const policy_SA = softmaxPolicy(logits_SA);
  const { value_S, q_SA, visits_S } = evaluatePolicy(mdp, policy_SA);
  return policy_SA.map((probability, row) => {
    const state = Math.floor(row / A);
    return visits_S[state] * probability * (q_SA[row] - value_S[state]);
  });
}

/** The index that a uniform in [0, 1) picks from probabilities; the last possible one when rounding leaves a rest. */
function pick(probabilities: Float64Array, uniform: number): number {
  let rest = uniform;
  for (const [index, probability] of probabilities.entries()) {
    rest -= probability;
    if (rest < 0) return index;
  }
  return probabilities.findLastIndex((probability) => probability > 0);
}

/**
 * Plays episodes until they end; they only sample from the tables, as an agent samples its environment.
 *
 * @param mdp The tables.
 * @param options.policy_SA The policy.
 * @param options.episodeCount B, at least 1.
 * @param options.uniform Uniform numbers in [0, 1); the same stream gives the same episodes.
 * @returns visits_BSA (how often each action was taken in each state) and returns_B (0 or 1).
 */
export function sampleEpisodes(mdp: RepairMdp, options: {
  readonly policy_SA: Float64Array;
  readonly episodeCount: number;
  readonly uniform: () => number;
}): { readonly visits_BSA: Float64Array; readonly returns_B: Float64Array } {
  const { policy_SA, episodeCount, uniform } = options;
  const visits_BSA = new Float64Array(episodeCount * S * A);
  const returns_B = new Float64Array(episodeCount);
  for (let episode = 0; episode < episodeCount; episode++) {
    for (let state = UNREAD; state !== DONE;) {
      const action = pick(policy_SA.subarray(state * A, (state + 1) * A), uniform());
      const row = state * A + action;
      visits_BSA[episode * S * A + row] += 1;
      returns_B[episode] += mdp.reward_SA[row];
      state = pick(mdp.transition_SAS.subarray(row * S, (row + 1) * S), uniform());
    }
  }
  return { visits_BSA, returns_B };
}
