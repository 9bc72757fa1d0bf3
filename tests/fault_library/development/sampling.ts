/** Faults in what is sampled, by whom, and in which order it is trained. */
import type { PlantedFault } from "../fault.ts";
import { DECODER, drawnBy, sampleWith, STAGES, TRAINER } from "../places.ts";

const SPLIT =
  "    return chunk(isWhole ? inOrder : random.permutation(episodeCount), config.minibatches);";

export const SAMPLING: readonly PlantedFault[] = [
  {
    name: "split_overlaps",
    kind: "data",
    summary: "Each minibatch also holds the first eight episodes of the next one.",
    shows: "Nothing: some episodes count twice.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: STAGES,
      find: SPLIT,
      put: `    const parts = chunk(random.permutation(episodeCount), config.minibatches);
    return parts.map((part, i) => [...part, ...parts[(i + 1) % parts.length].slice(0, 8)]);`,
    }],
  },
  {
    name: "split_same_half",
    kind: "data",
    summary: "Every minibatch of a pass is the first one again.",
    shows: "Training works with half of the episodes.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: STAGES,
      find: SPLIT,
      put: `    const [first] = chunk(random.permutation(episodeCount), config.minibatches);
    return Array.from({ length: config.minibatches }, () => first);`,
    }],
  },
  {
    name: "duplicate_pairs",
    kind: "data",
    summary:
      "Two workers share a seed: every second episode of a group is a copy of the one before.",
    shows: "Training works with half of the episodes.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: TRAINER,
      find: "randomIds_B: places.map((b) => round * tasks_B.length + b),",
      put: "randomIds_B: places.map((b) => round * tasks_B.length + b - b % 2),",
    }],
  },
  {
    name: "same_tasks",
    kind: "data",
    summary: "The problems of the first step are drawn again in every step.",
    shows: "The reward rises, the held-out pass rate less so.",
    named: [],
    near: [],
    begins: 1,
    patches: [{
      file: TRAINER,
      find: "drawTasks(config, { step, ",
      put: "drawTasks(config, { step: 0, ",
    }],
  },
  {
    name: "data_restarts",
    kind: "data",
    summary: "Problems and random numbers start again from the first step after every eight steps.",
    shows: "Nothing: problems come in the same order again.",
    named: [],
    near: [],
    begins: 8,
    patches: [
      {
        file: TRAINER,
        find: "drawTasks(config, { step, ",
        put: "drawTasks(config, { step: step % 8, ",
      },
      {
        file: TRAINER,
        find: "random: { seed, stream: STREAM.sample, step },",
        put: "random: { seed, stream: STREAM.sample, step: step % 8 },",
      },
    ],
  },
  {
    name: "decoder_positions",
    kind: "forward",
    summary:
      "The sampler counts positions from 1, but lets the first token keep position 1 as well.",
    shows: "A gap between sampler and trainer.",
    named: [],
    near: ["stale_sampler", "sampler_temp"],
    begins: 0,
    patches: [{
      file: DECODER,
      find: "let angles_at = here[r].position * HEAD_WIDTH4;",
      put: "let angles_at = max(here[r].position, 1u) * HEAD_WIDTH4;",
    }],
  },
  {
    name: "trainer_gelu",
    kind: "forward",
    summary: "The trainer's forward takes x·σ(1.702 x) for GELU, the sampler the tanh form.",
    shows: "A gap between sampler and trainer.",
    named: [],
    near: ["stale_sampler", "sampler_temp"],
    begins: 0,
    patches: [{
      file: "shaders/linear_gelu_forward.wgsl",
      find: "vec2u(column4 + c, 0u), gelu(z));",
      put: "vec2u(column4 + c, 0u), z / (1.0 + exp(-1.702 * z)));",
    }],
  },
  {
    name: "decoder_no_head_bias",
    kind: "forward",
    summary: "The sampler's output head has lost its bias.",
    shows: "A gap between sampler and trainer.",
    named: [],
    near: ["stale_sampler", "sampler_temp"],
    begins: 0,
    patches: [{
      file: DECODER,
      find: "+ column4] = block[BLOCK_COLUMNS4 * i + c] + bias;",
      put: "+ column4] = block[BLOCK_COLUMNS4 * i + c];",
    }],
  },
  {
    name: "sampler_greedy",
    kind: "sampler",
    summary: "The sampler takes the likeliest token and writes down its right log-prob.",
    shows: "All episodes of a group are the same, and nothing is learned.",
    named: [],
    near: ["sampler_temp"],
    begins: 0,
    patches: drawnBy("return select(0.0, 1.0, p >= 1.0);"),
  },
  {
    name: "sampler_same_random",
    kind: "sampler",
    summary: "All tokens of an episode are drawn with the same random number.",
    shows: "Odd episodes: always likely tokens or always unlikely ones.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: DECODER,
      find: "vec2u(episodes[slot.episode].y, slot.position + 1u)",
      put: "vec2u(episodes[slot.episode].y, 1u)",
    }],
  },
  {
    name: "sync_one_late",
    kind: "sync",
    summary: "The sampler gets the weights of one step before.",
    shows: "A small gap between sampler and trainer from the second step on.",
    named: ["stale_sampler"],
    near: [],
    begins: 1,
    patches: sampleWith("await weightsBefore(1)", { kept: 1 }),
  },
  {
    name: "sync_stops",
    kind: "sync",
    summary:
      "The thread that hands weights to the sampler dies in the ninth step, and nobody notices.",
    shows: "The gap between sampler and trainer grows from there on.",
    named: ["stale_sampler"],
    near: [],
    begins: 9,
    patches: sampleWith("await weightsBefore(Math.max(0, step - 8))", { kept: 32 }),
  },
  {
    name: "sync_skips_head",
    kind: "sync",
    summary: "The output head is never handed to the sampler.",
    shows: "A gap between sampler and trainer that grows from the second step on.",
    named: [],
    near: ["stale_sampler"],
    begins: 1,
    patches: [
      ...sampleWith("withFirstHead(await weightsBefore(0))", { kept: 0 }),
      {
        file: STAGES,
        find: "/** The trainer. */",
        put: `let firstHead: Float32Array<ArrayBuffer> | undefined;
function withFirstHead(weights_W: Float32Array<ArrayBuffer>) {
  const start = weights_W.length - 3900; // 60 · 64 + 60
  firstHead ??= weights_W.slice(start);
  weights_W.set(firstHead, start);
  return weights_W;
}

/** The trainer. */`,
      },
    ],
  },
  {
    name: "sync_bf16",
    kind: "sync",
    summary: "The sampler gets the weights in bf16.",
    shows: "A gap of about a hundredth of a nat between sampler and trainer.",
    named: [],
    near: ["stale_sampler", "sampler_temp"],
    begins: 0,
    patches: sampleWith(
      `new Float32Array(
      new Uint32Array((await weightsBefore(0)).buffer).map((bits) => bits & 0xffff0000).buffer,
    )`,
      { kept: 0 },
    ),
  },
  {
    name: "tool_test_passes",
    kind: "environment",
    summary: "The tool \`test\` always answers that the tests pass.",
    shows: "The agent learns to do without the tool.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/gym/bugfix.ts",
      find: 'words: [verdictOf(gym, state).publicPass ? "pass" : "fail"]',
      put: 'words: ["pass"]',
    }],
  },
];
