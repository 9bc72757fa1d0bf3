/** Tests of src/core/rng.ts and of its twin shaders/random.wgsl. */
import { assert, assertEquals } from "@std/assert";
import random from "#shaders/random.wgsl" with { type: "text" };
import { randomSequence, STREAM, threefry, toUniform } from "../../src/core/rng.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

type Pair = readonly [number, number];

const ONES = 0xffffffff;

/** Known answers of Threefry-2x32 with 20 rounds, from the authors' library Random123 (file kat_vectors). */
const KNOWN: readonly { readonly key: Pair; readonly counter: Pair; readonly answer: Pair }[] = [
  { key: [0, 0], counter: [0, 0], answer: [0x6b200159, 0x99ba4efe] },
  { key: [ONES, ONES], counter: [ONES, ONES], answer: [0x1cb996fc, 0xbb002be7] },
  {
    key: [0x13198a2e, 0x03707344],
    counter: [0x243f6a88, 0x85a308d3],
    answer: [0xc4923a9c, 0x483df7a0],
  },
];

Deno.test("threefry() gives the published answers", () => {
  KNOWN.forEach(({ key, counter, answer }) => assertEquals(threefry(key, counter), [...answer]));
});

Deno.test("randomSequence() is uniform, shuffles every item, and differs by seed, stream and step", () => {
  const open = (seed: number, stream: number, step: number) =>
    randomSequence({ seed, stream, step });
  const draws = Array.from({ length: 10_000 }, open(1, STREAM.tasks, 2).uniform);
  assert(draws.every((u) => u >= 0 && u < 1));
  const bins = new Array(10).fill(0);
  draws.forEach((u) => bins[Math.floor(10 * u)]++);
  // Each bin is binomial with mean 1,000 and standard deviation 30; six of them.
  assert(bins.every((count) => Math.abs(count - 1000) <= 180), `bins ${bins}`);
  assertEquals(open(1, STREAM.tasks, 2).permutation(50).sort((a, b) => a - b), [
    ...Array(50).keys(),
  ]);
  const first = (seed: number, stream: number, step: number) => open(seed, stream, step).uniform();
  const others = [first(1, 2, 2), first(2, 2, 2), first(1, 3, 2), first(1, 2, 3)];
  assertEquals(new Set(others).size, 4);
  assertEquals(first(1, STREAM.tasks, 2), draws[0]);
});

const TWIN = `
@group(0) @binding(0) var<storage, read> words: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> answers: array<vec4u>;

@compute @workgroup_size(1)
fn twin(@builtin(global_invocation_id) id: vec3u) {
  let answer = threefry(words[id.x].xy, words[id.x].zw);
  answers[id.x] = vec4u(answer, bitcast<u32>(uniform_of(answer.x)), 0u);
}`;

/** (x, y, bits of the uniform) of each (key, counter), computed on the device. */
async function threefryOnDevice(words: Uint32Array<ArrayBuffer>): Promise<Uint32Array> {
  const { device } = await testGpu();
  const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const size = words.byteLength;
  const input = device.createBuffer({ size, usage: STORAGE | COPY_DST });
  const output = device.createBuffer({ size, usage: STORAGE | COPY_SRC });
  const staging = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code: TWIN + random }), entryPoint: "twin" },
  });
  device.queue.writeBuffer(input, 0, words);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [input, output].map((buffer, binding) => ({ binding, resource: { buffer } })),
    }),
  );
  pass.dispatchWorkgroups(words.length / 4);
  pass.end();
  encoder.copyBufferToBuffer(output, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const answers = new Uint32Array(staging.getMappedRange().slice(0));
  staging.unmap();
  [input, output, staging].forEach((buffer) => buffer.destroy());
  return answers;
}

gpuTest("random.wgsl gives the published answers and the bits of threefry()", async () => {
  const sequence = randomSequence({ seed: 3, stream: STREAM.experiment });
  const words = Uint32Array.from([
    ...KNOWN.flatMap(({ key, counter }) => [...key, ...counter]),
    ...Array.from({ length: 4 * 1000 }, () => sequence.integer(2 ** 32)),
  ]);
  const answers = await threefryOnDevice(words);
  KNOWN.forEach(({ answer }, i) => assertEquals([...answers.slice(4 * i, 4 * i + 2)], [...answer]));
  const uniforms = new Float32Array(answers.buffer);
  for (let i = 0; i < words.length; i += 4) {
    const [x, y] = threefry([words[i], words[i + 1]], [words[i + 2], words[i + 3]]);
    assertEquals([answers[i], answers[i + 1], uniforms[i + 2]], [x, y, toUniform(x)]);
  }
});
