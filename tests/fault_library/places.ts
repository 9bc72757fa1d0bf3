/** Places of the sources that several faults patch. */
import type { Patch } from "./fault.ts";

export const STAGES = "src/rl/stages.ts";
export const TRAINER = "src/rl/trainer.ts";
export const UPDATE = "src/rl/update.ts";
export const DECODER = "shaders/rollout_decode.wgsl";
export const POLICY_LOSS = "shaders/policy_loss.wgsl";

/**
 * The advantages stage with another result.
 *
 * @param advantage_B An expression; `right.advantage_B` is what the stage should answer.
 */
export function advantagesAre(advantage_B: string): Patch {
  return {
    file: STAGES,
    find: `    return ALGORITHMS[algorithm].advantage({
      rewards_B,
      groupId_B,
      baseline,
      advantageEps,
      baselineDecay,
    });`,
    put: `    const input = { rewards_B, groupId_B, baseline, advantageEps, baselineDecay };
    const right = ALGORITHMS[algorithm].advantage(input);
    return { ...right, advantage_B: ${advantage_B} };`,
  };
}

/** The reward of an episode as another expression of its `info`, `tokens`, and `reward` (the kind that was asked for). */
export function rewardIs(expression: string): Patch {
  return {
    file: "src/rollout/resident.ts",
    find: "reward: bugFixReward(info, reward), info };",
    put: `reward: ${expression}, info };`,
  };
}

/** Another loss mask, an expression of the batch: `policyMask_BC` is the right one, C its number of columns. */
export function maskIs(expression: string): Patch {
  return {
    file: STAGES,
    find: "  lossMask: ({ policyMask_BC }) => policyMask_BC,",
    put:
      `  lossMask: ({ policyMask_BC, trajectories, packed: { columnCount: C } }) => ${expression},`,
  };
}

/** A setting of the loss as another expression of the configuration. */
export function lossTermIs(
  term: "clipLow" | "clipHigh" | "klKind" | "klCoef" | "entropyCoef",
  expression: string,
): Patch {
  return { file: STAGES, find: `    ${term}: config.${term},`, put: `    ${term}: ${expression},` };
}

/** The sampler with other weights than the current ones, an expression of the stage's context; `kept` steps back at most. */
export function sampleWith(weights_W: string, options: { readonly kept: number }): Patch[] {
  return [
    {
      file: STAGES,
      find: "  sample: (request, { rollOut }) => rollOut(request),",
      put: `  sample: async (request, { step, weightsBefore, rollOutWith }) =>
    await rollOutWith(${weights_W}, request),`,
    },
    ...options.kept === 0 ? [] : [{
      file: STAGES,
      find: '  reference: "frozen",',
      put: `  reference: "frozen",\n  weightsKept: ${options.kept},`,
    }],
  ];
}

/**
 * A sampler that draws from another distribution than the one whose log-probs it writes down.
 *
 * @param weight Statements that return the weight of token v, where \`p\` is its probability over the largest one.
 */
export function drawnBy(weight: string): Patch[] {
  return [{
    file: DECODER,
    find: "fn sample_token(u: f32) -> Sample {",
    put: `fn drawn_weight(softmax: OnlineSoftmax, v: u32) -> f32 {
  let p = exp(logit_above(v, softmax.maximum));
  ${weight}
}

fn draw(softmax: OnlineSoftmax, u: f32) -> u32 {
  var total = 0.0;
  for (var v = 0u; v < VOCAB; v++) { total += drawn_weight(softmax, v); }
  var cumulative = 0.0;
  var token = 0u;
  var is_open = true;
  for (var v = 0u; v < VOCAB; v++) {
    let weight = drawn_weight(softmax, v);
    cumulative += weight;
    token = select(token, v, is_open && weight > 0.0);
    is_open = is_open && !(weight > 0.0 && cumulative > u * total);
  }
  return token;
}

fn sample_token(u: f32) -> Sample {`,
  }, {
    file: DECODER,
    find: "let token = draw_token(softmax.maximum, u * softmax.sum, 0u, VOCAB);",
    put: "let token = draw(softmax, u);",
  }];
}

/** A field of the trainer that remembers something from one step to the next. */
export function remembers(declaration: string): Patch {
  const find = "  readonly #history: WeightHistory;";
  return { file: TRAINER, find, put: `${find}\n  ${declaration};` };
}
