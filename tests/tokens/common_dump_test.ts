/** Tests of the common token dump: reading, writing, and its schema. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { commonDumpLine } from "../../src/tokens/common_dump_line.ts";
import { COMMON_DUMP_ROW } from "../../src/tokens/common_dump_row.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { jsonl, readDump } from "./read_dump.ts";
import { randomTokens } from "./random_sequence.ts";

const PLACE = { file: "dump.jsonl", row: 1 };

Deno.test("commonDumpLine(): what is written is read again, whatever it is", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const sequence = randomTokens(seed);
    const line = commonDumpLine(sequence);
    assert(COMMON_DUMP_ROW.safeParse(JSON.parse(line)).success, line);
    const { form, sequences, ignored } = await readDump(`${line}\n`);
    assertEquals<unknown>([form, ignored], ["common_dump", {}]);
    assertEquals(sequences, [{ ...sequence, ...PLACE }], `seed ${seed}`);
  }
});

Deno.test("common dump: a row with the least that is allowed, and null as good as left out", async () => {
  const { sequences } = await readDump(jsonl([
    { v: 1, ids: [7] },
    { v: 1, ids: [7], mask: null, group: null, adv: null, reward: null, loss: null },
    { v: 1, ids: [] },
  ]));
  const least = { ...PLACE, offset: 0, ids: Uint32Array.of(7), logProbs: {} };
  assertEquals(sequences, [
    least,
    { ...least, row: 2 },
    { ...least, row: 3, ids: Uint32Array.of() },
  ]);
});

Deno.test("common dump: one advantage or version stands for all tokens, and names may be numbers", async () => {
  const row = { v: 1, group: 12, sample: 0, ids: [1, 2], adv: -0.5, ver: 3, stop: "eos" };
  const { sequences: [sequence] } = await readDump(jsonl([row]));
  assertEquals<Partial<TokenSequence>>(sequence, {
    ...PLACE,
    offset: 0,
    group: "12",
    sample: "0",
    ids: Uint32Array.of(1, 2),
    logProbs: {},
    advantage: -0.5,
    advantages: { values: Float64Array.of(-0.5, -0.5), nonFinite: [] },
    weightVersions: Int32Array.of(3, 3),
    stop: "end",
  });
});

Deno.test("common dump: keys that it does not have are told, since a typing error hides a check", async () => {
  const { ignored } = await readDump(jsonl([{ v: 1, ids: [1], lp_smapler: [0], x: 1 }]));
  assertEquals(ignored, { "keys that the common dump does not have": 2 });
});

Deno.test("common dump: the schema and the reader refuse the same rows, the reader with row and field", async () => {
  const damages: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ v: 2 }, "v is 2, but must be 1"],
    [{ v: undefined }, "v is missing"],
    [{ ids: undefined }, "ids is missing, but must be a list"],
    [{ ids: [1, -100] }, "ids[1] is -100"],
    [{ mask: [0, 2] }, "mask[1] is 2, but must be 0 or 1"],
    [{ role: ["s", "assistant"] }, 'role[1] is "assistant", but must be one of s, u, a, t, o'],
    [{ lp_new: [0, "x"] }, 'lp_new[1] is "x", but must be a number or null'],
    [{ adv: "high" }, 'adv is "high", but must be a number'],
    [{ adv: { a: 1 } }, "adv is an object, but must be a number"],
    [{ ver: 1.5 }, "ver is 1.5, but must be an integer"],
    [{ ver: [1, "a"] }, 'ver[1] is "a"'],
    [{ group: true }, "group is true, but must be text or a number"],
    [{ group: ["g"] }, "group is a list, but must be text or a number"],
    [{ reward: "one" }, 'reward is "one", but must be a number'],
    [{ reward_parts: [1] }, "reward_parts is a list, but must be an object"],
    [{ reward_parts: { a: "b" } }, 'reward_parts.a is "b", but must be a number'],
    [{ stop: "eot" }, 'stop is "eot", but must be one of eos, length, tool, error, other'],
    [{ phase: "during" }, 'phase is "during", but must be one of pre, post'],
    [{ top_p: 1.5 }, "top_p is 1.5, but must be at most 1"],
    [{ temp: -1 }, "temp is -1, but must be at least 0"],
    [{ pad: { left: 1 } }, "pad.right is missing, but must be a"],
    [{ loss: { denom: "all" } }, 'loss.denom is "all", but must be a'],
    [{ step: 1.5 }, "step is 1.5, but must be an integer"],
  ];
  const good = { v: 1, ids: [1, 2] };
  for (const [damage, reason] of damages) {
    const row = { ...good, ...damage };
    const parsed = JSON.parse(JSON.stringify(row));
    assertEquals(COMMON_DUMP_ROW.safeParse(parsed).success, false, reason);
    await assertRejects(() => readDump(jsonl([good, row])), UserError, `row 2: ${reason}`);
  }
  // This alone no schema can say.
  await assertRejects(
    () => readDump(jsonl([{ ...good, mask: [1] }])),
    UserError,
    "row 1: mask has 1 values, but must have 2, one for each token",
  );
});
