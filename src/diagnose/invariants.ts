/**
 * Invariants of a policy-gradient trainer: identities that hold for every correct one before any training. They need a
 * batch, a few passes and one update, and a violated one names its fault. Any trainer can be checked that answers
 * `CheckableTrainer`; src/faults/trainer_checks.ts does it for the trainer of this project.
 */
import type {
  CheckableTrainer,
  CheckedUpdate,
  CheckMaterial,
  CheckResult,
  Invariant,
  KnownTrainer,
  LossInputs,
} from "./invariant.ts";
import { INVARIANTS } from "./invariant_list.ts";

/** Columns of padding that check 5 appends. */
const PAD_COLUMNS = 8;

/** Raised where a check asks for what nobody tells. */
class NotTold extends Error {}

/** What may be left out without a check being unable to go on: it then does with less. */
const DISPENSABLE = {
  trainer: ["epochs", "draw"],
  inputs: ["gradient_W"],
  update: ["largestGap", "referenceLogp_BC", "startLogp_BC", "minibatches"],
} as const satisfies {
  readonly trainer: readonly (keyof CheckableTrainer)[];
  readonly inputs: readonly (keyof LossInputs)[];
  readonly update: readonly (keyof CheckedUpdate)[];
};

/** An object that raises {@linkcode NotTold} where a member is asked for that it lacks. */
function demanding<T extends object>(
  known: Partial<T>,
  options: { readonly prefix?: string; readonly dispensable?: readonly (keyof T)[] } = {},
): T {
  const { prefix = "", dispensable = [] } = options;
  return new Proxy(known, {
    get(target, key) {
      const value = Reflect.get(target, key);
      if (!(key in target) && !dispensable.some((name) => name === key)) {
        throw new NotTold(`${prefix}${String(key)}`);
      }
      // A method of a class must find its own private members.
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as T;
}

/** Asks a trainer everything that it can answer, once. What it does not tell is left out. */
async function askFor(known: KnownTrainer): Promise<Partial<CheckMaterial>> {
  const { trainer: dispensable } = DISPENSABLE;
  const inputs = askedInputs(await known.lossInputs?.(0));
  const padded = askedInputs(await known.lossInputs?.(PAD_COLUMNS));
  const accumulated_W = await known.gradient?.("accumulated");
  const onePass_W = await known.gradient?.("one-pass");
  const update = await known.update?.();
  const movement = await known.updateWithoutSignal?.();
  const termProbe = await known.termProbe?.();
  const lossProbe = await known.lossProbe?.();
  const optimizerProbe = await known.optimizerProbe?.();
  return {
    trainer: demanding<CheckMaterial["trainer"]>(known as Partial<CheckableTrainer>, {
      dispensable,
    }),
    ...(inputs && { inputs }),
    ...(padded && { padded }),
    ...(accumulated_W && { accumulated_W }),
    ...(onePass_W && { onePass_W }),
    ...(update && {
      update: demanding<CheckedUpdate>(update, {
        prefix: "update().",
        dispensable: DISPENSABLE.update,
      }),
      minibatches: update.minibatches,
    }),
    ...(movement !== undefined && { movement }),
    ...(termProbe && { termProbe }),
    ...(lossProbe && { lossProbe }),
    ...(optimizerProbe && { optimizerProbe }),
    next: await known.nextEpisodes?.(),
  };
}

function askedInputs(inputs: Partial<LossInputs> | undefined): CheckMaterial["inputs"] | undefined {
  const options = { prefix: "lossInputs().", dispensable: DISPENSABLE.inputs };
  return inputs && demanding<CheckMaterial["inputs"]>(inputs, options);
}

/** Measures, or says what for it is not told. */
function measure(invariant: Invariant, material: CheckMaterial): ReturnType<Invariant["measure"]> {
  try {
    // A bound that depends on the tolerance cannot be held without it.
    if (invariant.bound(0) !== invariant.bound(1)) void material.trainer.logpTolerance;
    return invariant.measure(material);
  } catch (error) {
    if (error instanceof NotTold) return { notTold: error.message };
    throw error;
  }
}

function judge(
  invariant: Invariant,
  material: CheckMaterial,
  { logpTolerance = 0 }: KnownTrainer,
): CheckResult {
  const { id, name, relation, boundReason } = invariant;
  const common = { id, name, relation, boundReason };
  const ownBound = invariant.bound(logpTolerance);
  const measured = measure(invariant, material);
  if ("notApplicable" in measured) {
    const { notApplicable: reason, lack } = measured;
    return { ...common, bound: ownBound, value: null, verdict: "not-applicable", reason, lack };
  }
  if ("notTold" in measured) {
    const reason = `not told: ${measured.notTold}`;
    return { ...common, bound: ownBound, value: null, verdict: "not-checkable", reason };
  }
  const { value, reason, bound = ownBound } = measured;
  // Written so that NaN violates.
  const holds = relation === "<=" ? value <= bound : value > bound;
  return { ...common, bound, value, verdict: holds ? "holds" : "violated", reason };
}

/**
 * Checks a trainer, or what is known of one.
 *
 * @param trainer The trainer, with a batch that it sampled itself; 64 episodes are plenty. Of a recorded batch, such as a dump
 * of tokens, what it holds: the checks that need more are `not-checkable`, and say what they lack.
 * @returns Results in the order of their ids.
 * @throws Whatever the trainer throws: a trainer that fails is not one that violates an invariant.
 * @example
 * ```ts
 * import { type CheckableTrainer, checkInvariants, violated } from "agentrl";
 * // One problem, two episodes of a prompt and one policy token. This trainer's π_old is off by 0.1.
 * const trainer: CheckableTrainer = {
 *   episodes: [1, 0].map((reward) => ({ owners: [1, 2], logps: [0, -1], reward, problem: "p" })),
 *   groupId_B: [0, 0],
 *   stepsPerUpdate: 1,
 *   logpTolerance: 1e-4,
 *   lossInputs: (pad) => {
 *     const grid = (value: number) => [0, 1].flatMap(() => [value, ...Array(pad).fill(0)]);
 *     return Promise.resolve({
 *       columnCount: 1 + pad,
 *       mask_BC: grid(1),
 *       oldLogp_BC: grid(-1.1),
 *       logp_BC: grid(-1),
 *       advantage_B: [0.7, -0.7],
 *       loss: 0.2,
 *     });
 *   },
 *   advantages: () => [0.7, -0.7],
 *   gradient: () => Promise.resolve([3, 4]),
 *   update: () => Promise.resolve({ approxKl: 0, logp_BC: [-0.9, -1.2] }),
 *   updateWithoutSignal: () => Promise.resolve(0),
 * };
 * console.log(violated(await checkInvariants(trainer)).map(({ name }) => name)); // ratio = 1 before any step
 * ```
 */
export async function checkInvariants(trainer: KnownTrainer): Promise<CheckResult[]> {
  const material = demanding<CheckMaterial>(await askFor(trainer), {
    dispensable: ["minibatches"],
  });
  return INVARIANTS.map((invariant) => judge(invariant, material, trainer));
}

/** The results that are violated. */
export function violated<Result extends Pick<CheckResult, "verdict">>(
  results: readonly Result[],
): Result[] {
  return results.filter(({ verdict }) => verdict === "violated");
}
