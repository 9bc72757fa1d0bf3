/**
 * Invariants of a policy-gradient trainer: identities that hold for every correct one before any training. They need a
 * batch, a few passes and one update, and a violated one names its fault. Any trainer can be checked that answers
 * `CheckableTrainer`; src/faults/trainer_checks.ts does it for the trainer of this project.
 */
import type { CheckableTrainer, CheckMaterial, CheckResult, Invariant } from "./invariant.ts";
import { INVARIANTS } from "./invariant_list.ts";

/** Columns of padding that check 5 appends. */
const PAD_COLUMNS = 8;

function judge(invariant: Invariant, material: CheckMaterial): CheckResult {
  const { id, name, relation, boundReason } = invariant;
  const common = { id, name, relation, boundReason };
  const ownBound = invariant.bound(material.trainer.logpTolerance);
  const measured = invariant.measure(material);
  if ("notApplicable" in measured) {
    const { notApplicable: reason, lack } = measured;
    return { ...common, bound: ownBound, value: null, verdict: "not-applicable", reason, lack };
  }
  const { value, reason, bound = ownBound } = measured;
  // Written so that NaN violates.
  const holds = relation === "<=" ? value <= bound : value > bound;
  return { ...common, bound, value, verdict: holds ? "holds" : "violated", reason };
}

/**
 * Checks a trainer.
 *
 * @param trainer The trainer, with a batch that it sampled itself; 64 episodes are plenty.
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
export async function checkInvariants(trainer: CheckableTrainer): Promise<CheckResult[]> {
  const material: CheckMaterial = {
    trainer,
    inputs: await trainer.lossInputs(0),
    padded: await trainer.lossInputs(PAD_COLUMNS),
    accumulated_W: await trainer.gradient("accumulated"),
    onePass_W: await trainer.gradient("one-pass"),
    update: await trainer.update(),
    movement: await trainer.updateWithoutSignal(),
  };
  return INVARIANTS.map((invariant) => judge(invariant, material));
}

/** The results that are violated. */
export function violated(results: readonly CheckResult[]): CheckResult[] {
  return results.filter(({ verdict }) => verdict === "violated");
}
