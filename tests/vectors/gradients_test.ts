/** Holds the gradients of every dialect to central differences of its own values, and stopped parts to what they stop. */
import { assert } from "@std/assert";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import { input, type VectorCase, withInput } from "../../src/vectors/family.ts";
import type { Arrays } from "../../src/vectors/values.ts";

const STEP = 1e-6;

/** Which input a gradient is for, and the scalar that it is the gradient of. */
const GRADIENTS: Readonly<
  Record<
    string,
    {
      readonly of: string;
      readonly as: string;
      readonly scalar: (outputs: Arrays, one: VectorCase) => number;
    }
  >
> = {
  kl: { of: "logp", as: "dlogp", scalar: ({ kl }) => sum(kl!.values) },
  surrogate: { of: "logp", as: "dlogp", scalar: ({ term }) => sum(term!.values) },
  aggregation: { of: "term", as: "dterm", scalar: ({ loss }) => loss!.values[0]! },
  loss: { of: "logp", as: "dlogp", scalar: ({ loss }) => loss!.values[0]! },
  logprob: {
    of: "logits",
    as: "dlogits",
    scalar: ({ logp, entropy }, one) =>
      sum(logp!.values.map((value, n) => value * input(one, "dlogp").values[n]!)) +
      sum(entropy!.values.map((value, n) => value * input(one, "dentropy").values[n]!)),
  },
};

/** Dialects whose gradient is not that of their value, by definition; tests/reference holds them to hand values. */
const STOPPED = /grad_k2|^cispo/;

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

for (const { name, cases, dialects, outputs } of VECTOR_FAMILIES) {
  const gradient = GRADIENTS[name];
  if (gradient === undefined) continue;
  Deno.test(`vectors ${name}: ${gradient.as} is the gradient of the values, by central differences`, () => {
    assert(gradient.as in outputs);
    let largest = 0;
    for (const one of cases.filter(({ isEdge }) => !isEdge)) {
      for (const dialect of dialects) {
        if (STOPPED.test(dialect.name)) continue;
        const analytic = dialect.compute(one)[gradient.as]!.values;
        const at = (i: number, by: number) =>
          gradient.scalar(
            dialect.compute(withInput(one, gradient.of, ({ shape, values }) => ({
              shape,
              values: values.with(i, values[i]! + by),
            }))),
            one,
          );
        for (const [i, expected] of analytic.entries()) {
          const found = (at(i, STEP) - at(i, -STEP)) / (2 * STEP);
          // The value's own rounding divided by the step, and the third derivative times its square.
          const size = Math.max(1, Math.abs(at(i, 0)));
          const bound = size * 4 * Number.EPSILON / STEP + 1e-6 * Math.abs(expected) + 1e-9;
          assert(
            Math.abs(found - expected) <= bound,
            `${one.id} ${dialect.name} [${i}]: ${found}, ${expected}`,
          );
          largest = Math.max(largest, Math.abs(expected));
        }
      }
    }
    assert(largest > 0.1, `${largest}`);
  });
}
