/** Tests of src/reference/linear.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { gelu } from "../../src/reference/gelu.ts";
import { linearBackward, linearForward } from "../../src/reference/linear.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

const HAND = { rowCount: 2, inputWidth: 2, outputWidth: 3, weight_OI: [1, 2, 3, 4, 5, 6] };

Deno.test("linearForward() multiplies by the rows of the weight and adds the bias", () => {
  const x_NI = [1, 10, 2, 0];
  assertEquals([...linearForward(x_NI, HAND).y_NO], [21, 43, 65, 2, 6, 10]);
  const { y_NO } = linearForward(x_NI, { ...HAND, bias_O: [100, 200, 300] });
  assertEquals([...y_NO], [121, 243, 365, 102, 206, 310]);
});

Deno.test("linearForward() ends in a GELU or a residual when its epilogue says so", () => {
  const x_NI = [0.1, 0.2, -0.3, 0.4];
  const plain = linearForward(x_NI, HAND).y_NO;
  const activated = linearForward(x_NI, { ...HAND, epilogue: "gelu" });
  assertEquals(activated.y_NO, plain.map(gelu));
  assertEquals(activated.preActivation_NO, plain);
  const residual_NO = [1, 2, 3, 4, 5, 6];
  const added = linearForward(x_NI, { ...HAND, epilogue: "residual", residual_NO });
  assertEquals(added.y_NO, plain.map((y, i) => residual_NO[i] + y));
});

for (const epilogue of ["none", "gelu"] as const) {
  Deno.test(`linearBackward() equals central differences with epilogue ${epilogue}`, () => {
    const shape = { rowCount: 4, inputWidth: 3, outputWidth: 5 };
    const x_NI = randomArray(12, { seed: 1 });
    const weight_OI = randomArray(15, { seed: 2 });
    const bias_O = randomArray(5, { seed: 3 });
    const dy_NO = randomArray(20, { seed: 4 });
    const run = (x: Float64Array, weight: Float64Array, bias: Float64Array) =>
      linearForward(x, { ...shape, weight_OI: weight, bias_O: bias, epilogue });
    const { preActivation_NO } = run(x_NI, weight_OI, bias_O);
    const { dx_NI, dweight_OI, dbias_O } = linearBackward(dy_NO, {
      ...shape,
      x_NI,
      weight_OI,
      ...(epilogue === "gelu" && { geluPreActivation_NO: preActivation_NO }),
    });
    const loss = (...inputs: Parameters<typeof run>) => dot(run(...inputs).y_NO, dy_NO);
    assertGradient("dx", { x: x_NI, gradient: dx_NI, loss: (x) => loss(x, weight_OI, bias_O) });
    assertGradient("dweight", {
      x: weight_OI,
      gradient: dweight_OI,
      loss: (weight) => loss(x_NI, weight, bias_O),
    });
    assertGradient("dbias", {
      x: bias_O,
      gradient: dbias_O,
      loss: (bias) => loss(x_NI, weight_OI, bias),
    });
  });
}

Deno.test("linearForward() refuses a transposed shape", () => {
  assertThrows(
    () => linearForward([1, 2, 3], { ...HAND, rowCount: 1 }),
    RangeError,
    "x_NI holds 3 elements but (N=1, I=2) needs 2",
  );
});
