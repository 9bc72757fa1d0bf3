/** Holds the policy loss's kernel to src/equations/policy_loss.ts. */
import { assert } from "@std/assert";
import { addPolicyLoss, type LossArguments } from "../../src/kernels/policy_loss.ts";
import { policyLoss } from "../../src/equations/policy_loss.ts";
import { absolute, type Compare, expError, randomF32, roundoffs, withRun } from "./harness.ts";

/** Rows: in a cycle of six, two whose weights are 0. */
const ROW_COUNT = 65;

/** Ratios well inside and well outside the clip, both signs of advantages, weights that differ and vanish. */
function tokens() {
  const signs = randomF32(ROW_COUNT, { seed: 1 });
  const logp_N = randomF32(ROW_COUNT, { seed: 2, offset: -2 });
  const difference = [0, -0.05, 0.06, -0.5, 0.7, 1.2];
  return {
    logp_N,
    entropy_N: randomF32(ROW_COUNT, { seed: 3, offset: 1 }),
    oldLogp_N: logp_N.map((logp, n) => logp - difference[n % 6]!),
    refLogp_N: logp_N.map((logp, n) => logp - 0.4 * signs[(7 * n) % ROW_COUNT]!),
    advantage_N: signs.map((sign) => 2 * sign),
    weight_N: logp_N.map((_, n) => n % 5 === 0 ? 0 : 0.01 * (1 + n % 3)),
    meanWeight_N: logp_N.map((_, n) => n % 7 === 0 ? 0 : 0.02),
  };
}

/** d loss / d log-prob and d loss / d entropy. */
export function comparePolicyLoss(loss: LossArguments["loss"]): Compare {
  const t = tokens();
  const { dlogp_N, dentropy_N } = policyLoss(t, loss);
  assert(
    t.oldLogp_N.every((old, n) => {
      const ratio = Math.exp(t.logp_N[n]! - old);
      return [1 - loss.clipLow, 1 + loss.clipHigh].every((edge) => Math.abs(ratio - edge) > 0.01);
    }),
    "a ratio on the edge of the clip may fall on either side",
  );
  const bound_N = dlogp_N.map((_, n) => {
    const logRatio = t.logp_N[n]! - t.oldLogp_N[n]!;
    const logKl = t.logp_N[n]! - t.refLogp_N[n]!;
    const surrogate = Math.abs(t.weight_N[n]! * t.advantage_N[n]!) * Math.exp(logRatio);
    const kl = loss.klCoef * t.meanWeight_N[n]! * (1 + Math.exp(-logKl));
    // Differences of log-probs below 4 in size are rounded once, exp as WGSL allows, the rest are products.
    return surrogate * (expError(logRatio) + roundoffs(4 + 4)) +
      kl * (expError(logKl) + roundoffs(4 + 5));
  });
  const bound_N2 = Array.from(bound_N).flatMap((
    b,
    n,
  ) => [b, roundoffs(3) * absolute(dentropy_N)[n]!]);
  const four = (a: Float32Array) =>
    Float32Array.from({ length: 4 * ROW_COUNT }, (_, i) => i % 4 ? NaN : a[i / 4]!);
  const columns = [t.advantage_N, t.weight_N, t.meanWeight_N, t.oldLogp_N];
  const objective = Float32Array.from(
    { length: 4 * ROW_COUNT },
    (_, i) => columns[i % 4]![i >> 2]!,
  );
  return (gpu) =>
    withRun(gpu, async (run) => {
      const dresult_N2 = run.empty(2 * ROW_COUNT);
      run.replay({ rowCount: ROW_COUNT, loss }, (commands, plan) =>
        addPolicyLoss(commands, plan, {
          result_N4: run.tensor(four(t.logp_N)),
          reference_N4: run.tensor(four(t.refLogp_N)),
          objective_N4: run.tensor(objective),
          dresult_N2,
        }));
      const actual = await run.read(dresult_N2, 2 * ROW_COUNT);
      const expected = Array.from(dlogp_N).flatMap((dlogp, n) => [dlogp, dentropy_N[n]!]);
      return [{ name: "dresult_N2", actual, expected, bound: bound_N2 }];
    });
}
