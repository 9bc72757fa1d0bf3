/** Tests of src/reference/gelu.ts. */
import { assert, assertAlmostEquals } from "@std/assert";
import { gelu, geluDerivative } from "../../src/reference/gelu.ts";
import { assertGradient } from "./central_difference.ts";

Deno.test("gelu() gives the values of the tanh approximation", () => {
  assert(gelu(0) === 0);
  // ½ · 1 · (1 + tanh(sqrt(2/π) · 1.044715)), with tanh(0.833561969) = 0.682383981217.
  assertAlmostEquals(gelu(1), 0.5 * (1 + 0.682383981217), 1e-12);
  assertAlmostEquals(gelu(-1), -0.5 * (1 - 0.682383981217), 1e-12);
  // The exact GELU, x Φ(x), is 0.841345 at 1: the approximation is told apart from it.
  assert(Math.abs(gelu(1) - 0.8413447) > 1e-4);
});

Deno.test("gelu() is 0 far below 0 and x far above, without overflow", () => {
  assertAlmostEquals(gelu(-1e3), 0, 1e-12);
  assert(gelu(1e3) === 1e3);
});

Deno.test("geluDerivative() equals central differences", () => {
  const x = Float64Array.of(-6, -2.3, -0.7517, -1e-3, 0, 0.4, 1, 2.9, 7);
  assertGradient("dgelu", {
    x,
    gradient: x.map(geluDerivative),
    loss: (moved) => moved.map(gelu).reduce((sum, y) => sum + y, 0),
  });
});
