/** Tests of src/reference/tiny_agent.ts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type PackedTokens,
  tinyAgentBackward,
  tinyAgentForward,
  type TinyAgentShape,
} from "../../src/reference/tiny_agent.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

/** Two layers and sizes that all differ, so that a swapped axis cannot go unseen. */
const SHAPE: TinyAgentShape = {
  layerCount: 2,
  width: 6,
  headCount: 3,
  feedForwardWidth: 10,
  vocabularySize: 7,
};

/** Episodes of 3 and 5 tokens. */
const TOKENS: PackedTokens = {
  ids_N: [1, 4, 2, 1, 6, 6, 0, 3],
  startOfEpisode_N: [0, 0, 0, 3, 3, 3, 3, 3],
  position_N: [0, 1, 2, 0, 1, 2, 3, 4],
};

function parameters(): Record<string, Float64Array> {
  const { width: D, feedForwardWidth: F, vocabularySize: V, layerCount } = SHAPE;
  const sizes: [name: string, size: number, offset: number][] = [["tok_emb.weight", V * D, 0]];
  for (let layer = 0; layer < layerCount; layer++) {
    const block: [string, number, number][] = [
      ["ln1.weight", D, 1],
      ["ln1.bias", D, 0],
      ["ln2.weight", D, 1],
      ["ln2.bias", D, 0],
      ["qkv.weight", 3 * D * D, 0],
      ["proj.weight", D * D, 0],
      ["proj.bias", D, 0],
      ["fc.weight", F * D, 0],
      ["fc.bias", F, 0],
      ["out.weight", D * F, 0],
      ["out.bias", D, 0],
    ];
    for (const [name, size, offset] of block) {
      sizes.push([`blocks.${layer}.${name}`, size, offset]);
    }
  }
  sizes.push(["ln.weight", D, 1], ["ln.bias", D, 0], ["head.weight", V * D, 0], [
    "head.bias",
    V,
    0,
  ]);
  return Object.fromEntries(
    sizes.map(([name, size, offset], seed) => [
      name,
      randomArray(size, { seed: seed + 1, scale: 0.5, offset }),
    ]),
  );
}

Deno.test("tinyAgentBackward() equals central differences for every parameter", () => {
  const weights = parameters();
  const dlogits_NV = randomArray(8 * 7, { seed: 99 });
  const activations = tinyAgentForward(weights, { shape: SHAPE, tokens: TOKENS });
  const gradient = tinyAgentBackward(weights, {
    shape: SHAPE,
    tokens: TOKENS,
    activations,
    dlogits_NV,
  });
  assertEquals(Object.keys(gradient).sort(), Object.keys(weights).sort());
  for (const [name, x] of Object.entries(weights)) {
    assertGradient(name, {
      x,
      gradient: gradient[name],
      loss: (moved) => {
        const options = { shape: SHAPE, tokens: TOKENS };
        return dot(tinyAgentForward({ ...weights, [name]: moved }, options).logits_NV, dlogits_NV);
      },
    });
  }
});

Deno.test("tinyAgentForward() is causal, and episodes do not leak into one another", () => {
  const weights = parameters();
  const rows = (tokens: PackedTokens) => {
    const { logits_NV } = tinyAgentForward(weights, { shape: SHAPE, tokens });
    return Array.from({ length: 8 }, (_, n) => [...logits_NV.slice(n * 7, n * 7 + 7)].join());
  };
  const before = rows(TOKENS);
  const changed = (row: number) => {
    const ids_N = Array.from(TOKENS.ids_N, (id, n) => n === row ? (id + 1) % 7 : id);
    const after = rows({ ...TOKENS, ids_N });
    return before.flatMap((row, n) => row === after[n] ? [] : [n]);
  };
  assertEquals(changed(1), [1, 2]);
  assertEquals(changed(5), [5, 6, 7]);
});

Deno.test("tinyAgentForward() gives the last hidden states whose head product is the logits", () => {
  const weights = parameters();
  const { hidden_ND, logits_NV } = tinyAgentForward(weights, { shape: SHAPE, tokens: TOKENS });
  const row = hidden_ND.subarray(7 * 6, 8 * 6);
  const logit = dot(row, weights["head.weight"].subarray(2 * 6, 3 * 6)) + weights["head.bias"][2];
  assert(Math.abs(logits_NV[7 * 7 + 2] - logit) <= 1e-14);
});

Deno.test("tinyAgentForward() names the parameter that is missing or has another size", () => {
  const options = { shape: SHAPE, tokens: TOKENS };
  const { "blocks.1.fc.bias": _, ...missing } = parameters();
  assertThrows(() => tinyAgentForward(missing, options), RangeError, "blocks.1.fc.bias is missing");
  const short = { ...parameters(), "ln.weight": new Float64Array(5) };
  assertThrows(() => tinyAgentForward(short, options), RangeError, "gain_D holds 5 elements");
});
