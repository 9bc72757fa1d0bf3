/** Tests of the reader of NeMo-RL's training data. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { jsonl, readDump } from "./read_dump.ts";

/** A row as NeMo-RL writes it: lists of one, padding on the right, a filler at index 0 of the log-probs. */
const ROW = {
  content: ["2 + 2 = 4"],
  rewards: [1],
  input_lengths: [4],
  token_ids: [[5, 6, 7, 2, 0, 0]],
  token_loss_mask: [[0, 0, 1, 1, 0, 0]],
  sample_loss_mask: [1],
  advantages: [[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]],
  generation_logprobs: [[0, 0, -0.25, 0, 0, 0]],
  prev_logprobs: [[0, -3, -0.5, -1, -9, -9]],
  agent_ref: null,
  idx: 12,
};

const samplesOf = async (...rows: readonly unknown[]) => (await readDump(jsonl(rows))).sequences;

Deno.test("NeMo-RL: lists of one are opened, padding is cut off, and fillers are not values", async () => {
  const { form, sequences: [sequence] } = await readDump(jsonl([ROW]));
  assertEquals(form, "nemo_rl");
  const { group, ...rest } = sequence;
  assertEquals<Partial<TokenSequence>>(rest, {
    file: "dump.jsonl",
    row: 1,
    offset: 0,
    ids: Uint32Array.of(5, 6, 7, 2),
    padding: { left: 0, right: 2 },
    sample: "12",
    mask: Uint8Array.of(0, 0, 1, 1),
    logProbs: {
      sampler: { values: Float64Array.of(NaN, NaN, -0.25, 0), nonFinite: [] },
      old: { values: Float64Array.of(NaN, -3, -0.5, -1), nonFinite: [] },
    },
    advantages: { values: new Float64Array(4).fill(0.5), nonFinite: [] },
    reward: 1,
  });
  assertEquals(group?.startsWith("prompt "), true);
});

Deno.test("NeMo-RL: samples of equal prompts are a group, whatever their answers and padding", async () => {
  const samples = await samplesOf(
    ROW,
    { ...ROW, token_ids: [[5, 6, 8, 9, 2, 0]], input_lengths: [5] },
    { ...ROW, token_ids: [[5, 8, 7, 2, 0, 0]] },
    { ...ROW, token_loss_mask: [[0, 1, 1, 1, 0, 0]] },
  );
  const groups = samples.map(({ group }) => group);
  assertEquals(groups[0], groups[1]);
  assertEquals(new Set(groups).size, 3);
});

Deno.test("NeMo-RL: a masked sample is not trained, and under dynamic sampling its own reward counts", async () => {
  const [masked, filtered, scalar, bare] = await samplesOf(
    { ...ROW, sample_loss_mask: [0] },
    { ...ROW, rewards: [1, 0, 0, 1].slice(0, 1), filtered_rewards: [0.25] },
    { ...ROW, advantages: [-0.75] },
    { token_ids: [7], token_loss_mask: [1], prev_logprobs: [0], advantages: [0.5] },
  );
  assertEquals([...masked.mask!], [0, 0, 0, 0]);
  assertEquals(filtered.reward, 0.25);
  assertEquals([scalar.advantage, ...scalar.advantages!.values], [
    -0.75,
    -0.75,
    -0.75,
    -0.75,
    -0.75,
  ]);
  assertEquals([[...bare.ids], bare.advantage, bare.group], [[7], undefined, undefined]);
});

Deno.test("NeMo-RL: a row that contradicts itself is refused with its field", async () => {
  const damages: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ input_lengths: [7] }, "input_lengths is 7, but token_ids has 6 values with the padding"],
    [{ prev_logprobs: [[0, 1]] }, "prev_logprobs[0] has 2 values, but must have 6"],
    [{ rewards: [1, 0] }, "rewards has 2 items, but must be a list of one"],
    [{ token_ids: [[5, 6], [7]] }, "token_ids[0] is a list, but must be an integer"],
  ];
  for (const [damage, reason] of damages) {
    await assertRejects(
      () => samplesOf({ ...ROW, ...damage }),
      UserError,
      `Cannot read dump.jsonl, row 1: ${reason}`,
    );
  }
});
