/** Tests of src/reference/embedding.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { embeddingBackward, embeddingForward } from "../../src/reference/embedding.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

Deno.test("embeddingForward() copies the row of each id", () => {
  const x_ND = embeddingForward([2, 0, 2], [1, 2, 3, 4, 5, 6], {
    rowCount: 3,
    width: 2,
    vocabularySize: 3,
  });
  assertEquals([...x_ND], [5, 6, 1, 2, 5, 6]);
});

Deno.test("embeddingBackward() adds up the rows of an id that occurs more than once", () => {
  const shape = { rowCount: 3, width: 2, vocabularySize: 3 };
  assertEquals([...embeddingBackward([1, 2, 10, 20, 100, 200], [2, 0, 2], shape)], [
    10,
    20,
    0,
    0,
    101,
    202,
  ]);
});

Deno.test("embeddingBackward() equals central differences", () => {
  const shape = { rowCount: 5, width: 3, vocabularySize: 4 };
  const ids_N = [3, 1, 1, 0, 3];
  const dx_ND = randomArray(15, { seed: 1 });
  assertGradient("dweight", {
    x: randomArray(12, { seed: 2 }),
    gradient: embeddingBackward(dx_ND, ids_N, shape),
    loss: (weight_VD) => dot(embeddingForward(ids_N, weight_VD, shape), dx_ND),
  });
});

Deno.test("embeddingForward() refuses an id beyond the vocabulary and an array of another size", () => {
  const shape = { rowCount: 2, width: 2, vocabularySize: 3 };
  const weight_VD = new Float64Array(6);
  assertThrows(() => embeddingForward([0, 3], weight_VD, shape), RangeError, "ids_N[1] is 3");
  assertThrows(() => embeddingForward([0, -1], weight_VD, shape), RangeError, "ids_N[1] is -1");
  assertThrows(
    () => embeddingForward([0], weight_VD, shape),
    RangeError,
    "ids_N holds 1 elements but (N=2) needs 2",
  );
});
