/** Tests of the layered decoder's model: cached decoding has the bits of the packed forward at every position. */
import { assert } from "@std/assert";
import { randomSequence } from "../../src/core/rng.ts";
import type { Commands, Plan } from "../../src/gpu/commands.ts";
import { createTensor, destroy, type Tensor } from "../../src/gpu/tensor.ts";
import { addLinear } from "../../src/kernels/linear.ts";
import { addLogprobForward, type LogprobSize } from "../../src/kernels/logprob.ts";
import type { Parameters } from "../../src/model/parameters.ts";
import { addDecodeLayers } from "../../src/model/tiny_agent_decode.ts";
import { createWorkspace, destroyWorkspace } from "../../src/model/workspace.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertSameBits } from "../kernels/harness.ts";
import { goldenAgent } from "../rollout/agent.ts";

const SEQUENCES = 64;
const LONGEST = 40;

/** Random tokens in sequences of 1 to 40. */
function randomSequences(vocabSize: number): Uint32Array[] {
  const random = randomSequence({ seed: 3, stream: 0 });
  return Array.from({ length: SEQUENCES }, (_, b) => {
    const length = b === 0 ? LONGEST : 1 + random.integer(LONGEST);
    return Uint32Array.from({ length }, () => random.integer(vocabSize));
  });
}

interface Decoding {
  readonly plan: Plan<LogprobSize>;
  readonly token_B4: Tensor;
  readonly target_B: Tensor;
  readonly result_B4: Tensor;
  readonly logits_BV: Tensor;
  readonly free: () => void;
}

function prepareDecoding(commands: Commands, parameters: Parameters): Decoding {
  const { config, layout, operand: w } = parameters;
  const tensor = (label: string, floats: number) =>
    createTensor(commands.gpu.device, { label, sizeBytes: floats * 4 });
  const workspace = createWorkspace(commands, config, {
    capacity: SEQUENCES,
    maxPositions: LONGEST,
    isTraining: false,
  });
  const caches = layout.blocks.map((_, layer) =>
    tensor(`cache ${layer}`, SEQUENCES * LONGEST * 2 * config.width)
  );
  const logits_BV = tensor("logits", SEQUENCES * config.vocabSize);
  const plan = commands.plan<LogprobSize>();
  addDecodeLayers(commands, plan, { parameters, workspace, caches, maxPositions: LONGEST });
  const { width, vocabSize } = config;
  addLinear(commands, plan, {
    product: "forward",
    tensors: { x_NK: workspace.hidden_RD, w, y_NM: logits_BV },
    shape: { width, columnCount: vocabSize, weightOffset: layout.head },
  });
  const { inputs: { token_N4: token_B4, target_R: target_B }, result_R4: result_B4 } = workspace;
  addLogprobForward(commands, plan, {
    h_ND: workspace.hidden_RD,
    w,
    target_N: target_B,
    segments: workspace.segments,
    result_N4: result_B4,
    shape: { width, vocabSize, weightOffset: layout.head },
  });
  const free = () => {
    destroyWorkspace(workspace);
    [...caches, logits_BV].forEach(destroy);
  };
  return { plan, token_B4, target_B, result_B4, logits_BV, free };
}

gpuTest(
  "decoding 64 random sequences has the packed forward's bits at every position",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const { vocabSize } = parameters.config;
    const ids_B = randomSequences(vocabSize);
    const packed = packEpisodes(ids_B, { vocabSize });
    const temperature = 0.7;
    const scores = await scoreEpisodes(commands, parameters, {
      ids_B,
      temperature,
      withLogits: true,
    });
    const decoding = prepareDecoding(commands, parameters);
    const logits_NV = new Float32Array(packed.rowCount * vocabSize);
    const logp_N = new Float32Array(packed.rowCount);
    for (let t = 0; t < LONGEST; t++) {
      // A sequence that has ended decodes its last token again and again: nobody reads it.
      const places = ids_B.map(({ length }) => Math.min(t, length - 1));
      commands.write(
        decoding.token_B4,
        Uint32Array.from(places.flatMap((at, b) => [ids_B[b]![at]!, at, 0, 0])),
      );
      commands.write(
        decoding.target_B,
        Uint32Array.from(places, (at, b) => ids_B[b]![at + 1] ?? 0),
      );
      commands.replay(decoding.plan, { rowCount: SEQUENCES, temperature });
      const [logits, results] = await commands.read([
        { tensor: decoding.logits_BV, sizeBytes: SEQUENCES * vocabSize * 4 },
        { tensor: decoding.result_B4, sizeBytes: SEQUENCES * 16 },
      ]);
      places.forEach((at, b) => {
        if (at !== t) return;
        const row = packed.firstRow_B[b]! + t;
        logits_NV.set(
          new Float32Array(logits!, b * vocabSize * 4, vocabSize),
          row * vocabSize,
        );
        logp_N[row] = new Float32Array(results!)[4 * b]!;
      });
    }
    decoding.free();
    assert(packed.rowCount > 1000 && new Set(logp_N).size > 900, "the sequences are too alike");
    assertSameBits("logits", logits_NV, scores.logits_NV!);
    assertSameBits("log-probs", logp_N, scores.logp_N);
  },
);
