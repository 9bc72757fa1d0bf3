/** Tests of the reader of prime-rl's token exports. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { jsonl, readDump } from "./read_dump.ts";

/** A row as prime-rl writes it: index 0 is a filler, and the sampler's log-probs are 0 where nothing was sampled. */
const ROW = {
  schema_version: 1,
  step: 3,
  rank: 1,
  micro_step: 2,
  micro_sequence_idx: 0,
  export_sequence_idx: 0,
  env_name: "bugfix",
  token_ids: [5, 9, 12, 7, 2],
  position_ids: [0, 1, 2, 3, 4],
  loss_mask: [false, false, true, true, true],
  advantages: [0.5, 0.5, 0.5, 0.5, 0.5],
  inference_logprobs: [0, 0, -1.25, 0, -0.0078125],
  trainer_logprobs: [-4.125, -2.5, -1.25, -0.375, -0.015625],
  entropy: [4.125, 2.125, 1, 0.625, 0.0625],
  mismatch_kl: [8640, 2.5, 0, 0, 0],
  importance_ratio: [0.015625, 0.0625, 1, 1, 1],
};

Deno.test("token_exports: value i is about token i, and fillers are not values", async () => {
  const { form, sequences: [sequence], ignored } = await readDump(jsonl([ROW]));
  assertEquals([form, ignored], ["token_exports", {}]);
  assertEquals(sequence, {
    file: "dump.jsonl",
    row: 1,
    offset: 0,
    step: 3,
    rank: 1,
    microBatch: 2,
    environment: "bugfix",
    phase: "pre",
    ids: Uint32Array.of(5, 9, 12, 7, 2),
    positions: Uint32Array.of(0, 1, 2, 3, 4),
    mask: Uint8Array.of(0, 0, 1, 1, 1),
    logProbs: {
      // The 0 at token 3 is under the mask: a log-prob of 0 is that of a certain token.
      sampler: { values: Float64Array.of(NaN, NaN, -1.25, 0, -0.0078125), nonFinite: [] },
      trainer: { values: Float64Array.of(NaN, -2.5, -1.25, -0.375, -0.015625), nonFinite: [] },
    },
    entropy: { values: Float64Array.of(NaN, 2.125, 1, 0.625, 0.0625), nonFinite: [] },
    advantages: { values: new Float64Array(5).fill(0.5), nonFinite: [] },
  });
});

Deno.test("token_exports: a log-prob of the sampler outside the mask stays, so that a mask that is one off shows", async () => {
  const row = { ...ROW, loss_mask: [false, true, true, true, false] };
  const { sequences: [{ logProbs }] } = await readDump(jsonl([row]));
  assertEquals(logProbs.sampler?.values, Float64Array.of(NaN, 0, -1.25, 0, -0.0078125));
});

Deno.test("token_exports: a packed row is split where positions start over; parts without a trained token are counted", async () => {
  const packed = {
    ...ROW,
    token_ids: [5, 9, 12, 5, 7, 2, 0, 0],
    position_ids: [0, 1, 2, 0, 1, 2, 0, 1],
    loss_mask: [false, true, true, false, true, true, false, false],
    advantages: [1, 1, 1, -1, -1, -1, 0, 0],
    inference_logprobs: [0, -1, null, 0, -3, -4, 0, 0],
    trainer_logprobs: [-9, -1, -2, -9, null, -4, -9, -9],
    entropy: [9, 1, 2, 9, 3, 4, 9, 9],
  };
  const { sequences, ignored } = await readDump(jsonl([ROW, packed]));
  const parts = sequences.slice(1);
  assertEquals(parts.map(({ row, offset, ids }) => [row, offset, [...ids]]), [
    [2, 0, [5, 9, 12]],
    [2, 3, [5, 7, 2]],
  ]);
  assertEquals(parts.map(({ advantages }) => [...advantages!.values]), [[1, 1, 1], [-1, -1, -1]]);
  assertEquals(parts.map(({ logProbs }) => [...logProbs.sampler!.values]), [
    [NaN, -1, NaN],
    [NaN, -3, -4],
  ]);
  assertEquals(parts.map(({ logProbs }) => [...logProbs.trainer!.values]), [
    [NaN, -1, -2],
    [NaN, NaN, -4],
  ]);
  assertEquals(ignored, { "parts of packed rows without a trained token": 1 });
});

Deno.test("token_exports: NaN literals stand at their tokens, also within a packed row", async () => {
  const text = jsonl([{
    ...ROW,
    position_ids: [0, 1, 0, 1, 2],
    loss_mask: [false, true, false, true, true],
    env_name: 'a "NaN", \\ -Infinity',
    trainer_logprobs: [0, 111, 0, 222, 333],
  }]).replace("111", "NaN").replace("222", "-Infinity").replace("333", "Infinity");
  const { sequences: [first, second] } = await readDump(text);
  assertEquals(first.environment, 'a "NaN", \\ -Infinity');
  assertEquals(first.logProbs.trainer, { values: Float64Array.of(NaN, NaN), nonFinite: [1] });
  assertEquals(second.logProbs.trainer, {
    values: Float64Array.of(NaN, -Infinity, Infinity),
    nonFinite: [1, 2],
  });
});

Deno.test("token_exports: a damaged row is refused with file, row and field", async () => {
  const damages: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ loss_mask: [true] }, "row 2: loss_mask has 1 values, but must have 5, one for each token"],
    [{ token_ids: [5, 9, 12, 7, -1] }, "token_ids[4] is -1, but must be an integer from 0 to"],
    [{ token_ids: [5, 9, 12, 7, 2 ** 32] }, "token_ids[4] is 4294967296, but must be"],
    [{ token_ids: [5, 9, 12, 7, 1.5] }, "token_ids[4] is 1.5, but must be"],
    [{ token_ids: [null, null, null, null, null] }, "token_ids[0] is null"],
    [{ token_ids: null }, "token_ids is null, but must be a list"],
    [{ entropy: "none" }, 'entropy is "none", but must be a list'],
    [{ entropy: [0, 1, "2", 3, 4] }, 'entropy[2] is "2", but must be a number or null'],
    [{ loss_mask: [0, 1, 2, 1, 1] }, "loss_mask[2] is 2, but must be 0 or 1"],
    [{ position_ids: [0, 1, 2, 3, -4] }, "position_ids[4] is -4"],
    [{ step: -1 }, "step is -1, but must be an integer from 0"],
    [{ schema_version: 2 }, "schema_version is 2, but only 1 is read"],
  ];
  for (const [damage, reason] of damages) {
    const error = await assertRejects(
      () => readDump(jsonl([ROW, { ...ROW, ...damage }])),
      UserError,
      reason,
    );
    assertEquals(error.message.startsWith("Cannot read dump.jsonl, row 2: "), true, error.message);
    assertEquals(error.message.includes("\n"), false);
  }
});

Deno.test("token_exports: a last row that was cut off is noted, an earlier one refused", async () => {
  const whole = jsonl([ROW, ROW]);
  const { sequences, ignored } = await readDump(whole.slice(0, -40));
  assertEquals([sequences.length, ignored], [1, { "a half-written last line": 1 }]);
  await assertRejects(
    () => readDump(whole.replace('{"schema', "{schema") + jsonl([ROW])),
    Error,
  );
  for (const [line, reason] of [["{]", "not valid JSON"], ["[1]", "it is not an object"]]) {
    await assertRejects(
      () => readDump(`${jsonl([ROW])}${line}\n${jsonl([ROW])}`),
      UserError,
      `row 2: ${reason === "not valid JSON" ? "it is not valid JSON" : reason}`,
    );
  }
});

Deno.test("token_exports: ids above 2³¹ are read, and of nulls and missing arrays nothing is made up", async () => {
  const row = {
    export_sequence_idx: 0,
    token_ids: [2 ** 31, 2 ** 32 - 1],
    trainer_logprobs: [null, null],
    loss_mask: null,
    step: null,
  };
  const { sequences } = await readDump(jsonl([row]));
  assertEquals(sequences, [{
    file: "dump.jsonl",
    row: 1,
    offset: 0,
    phase: "pre",
    ids: Uint32Array.of(2 ** 31, 2 ** 32 - 1),
    logProbs: { trainer: { values: Float64Array.of(NaN, NaN), nonFinite: [] } },
  }]);
});
