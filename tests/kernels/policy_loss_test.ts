/** Tests of the policy loss's kernel: both surrogates, every estimator of the KL divergence, entropy. */
import { KL_KINDS, SURROGATE_KINDS } from "../../src/equations/policy_loss.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { comparePolicyLoss } from "./policy_loss.ts";

for (const surrogate of SURROGATE_KINDS) {
  for (const klKind of KL_KINDS) {
    gpuTest(`addPolicyLoss() matches the reference for ${surrogate} with ${klKind}`, async () => {
      for (const klCoef of [0, 0.3]) {
        await assertHoldsInBothMemories(
          comparePolicyLoss({
            surrogate,
            clipLow: 0.1,
            clipHigh: 0.3,
            klKind,
            klCoef,
            entropyCoef: klCoef / 10,
          }),
        );
      }
    });
  }
}
