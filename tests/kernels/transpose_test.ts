/** Tests of src/kernels/transpose.ts: every entry keeps its bits and goes where the reference says. */
import { assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { createTensor, destroy } from "../../src/gpu/tensor.ts";
import { addTransposeWeights } from "../../src/kernels/transpose.ts";
import { transposeWeight } from "../../src/reference/transpose.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

Deno.test("transposeWeight() interleaves the pairs of queries and keys alone", () => {
  // K 4, heads of 4: outputs 0..7 are queries and keys, 8..11 values; entry (o, k) is 10·o + k.
  const weight_MK = Float64Array.from({ length: 48 }, (_, i) => 10 * Math.floor(i / 4) + i % 4);
  const copy_KM = transposeWeight(weight_MK, { outputCount: 12, width: 4, headWidth: 4 });
  const firstRow = [0, 20, 10, 30, 40, 60, 50, 70, 80, 90, 100, 110];
  assertEquals([...copy_KM.subarray(0, 12)], firstRow);
  assertEquals([...copy_KM.subarray(36)], firstRow.map((entry) => entry + 3));
});

gpuTest(
  "addTransposeWeights() has the reference's entries, and leaves what lies around",
  async () => {
    const commands = new Commands(await testGpu());
    const shapes = [
      { width: 4, outputCount: 4, headWidth: 0 },
      { width: 20, outputCount: 28, headWidth: 0 },
      { width: 16, outputCount: 48, headWidth: 8 },
    ];
    for (const shape of shapes) {
      const { width, outputCount } = shape;
      const values = Float32Array.from({ length: width * outputCount + 16 }, (_, i) => i + 0.1);
      const sizeBytes = values.byteLength;
      const [weights, transposed] = ["weights", "transposed"].map((label) =>
        createTensor(commands.gpu.device, { label, sizeBytes })
      ) as [ReturnType<typeof createTensor>, ReturnType<typeof createTensor>];
      commands.write(weights, values);
      const plan = commands.plan<undefined>();
      addTransposeWeights(commands, plan, { weights, transposed, offset: 8, ...shape });
      commands.replay(plan, undefined);
      const [bytes] = await commands.read([{ tensor: transposed, sizeBytes }]);
      const found = new Float32Array(bytes!);
      const expected = transposeWeight(values.subarray(8, values.length - 8), shape);
      assertEquals([...found.subarray(8, found.length - 8)], [...expected]);
      assertEquals([...found.subarray(0, 8), ...found.subarray(-8)], Array(16).fill(0));
      [weights, transposed].forEach(destroy);
    }
  },
);
