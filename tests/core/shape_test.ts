/** Tests of src/reference/shape.ts. */
import { assertThrows } from "@std/assert";
import { requireIndices, requireSizes } from "../../src/core/shape.ts";

Deno.test("requireSizes() says what the array holds and what its axes need", () => {
  requireSizes("op", { x_ND: [[1, 2, 3, 4, 5, 6], { N: 2, D: 3 }], empty_N: [[], { N: 0 }] });
  assertThrows(
    () => requireSizes("op", { x_ND: [[1, 2], { N: 2, D: 3 }] }),
    RangeError,
    "Cannot compute op: x_ND holds 2 elements but (N=2, D=3) needs 6",
  );
});

Deno.test("requireSizes() refuses axes that are not counts, also when their product fits", () => {
  for (const N of [-1, 0.5, NaN]) {
    assertThrows(() => requireSizes("op", { x_N: [[], { N }] }), RangeError, `axes (N=${N})`);
  }
  assertThrows(
    () => requireSizes("op", { x_ND: [[1], { N: -1, D: -1 }] }),
    RangeError,
    "integers of at least 0",
  );
});

Deno.test("requireIndices() names the first index out of range", () => {
  const check = { name: "ids_N", limit: 3 };
  requireIndices("op", { ...check, indices: [0, 2] });
  for (const index of [3, -1, 0.5, NaN]) {
    assertThrows(
      () => requireIndices("op", { ...check, indices: [0, index, 9] }),
      RangeError,
      `Cannot compute op: ids_N[1] is ${index} but must be an integer in [0, 3)`,
    );
  }
});
