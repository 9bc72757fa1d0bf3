/** Tests of the readers of dumps that hold texts and rewards, and no token ids. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { parquetRows } from "../../src/tokens/parquet.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { parquetFile } from "./make_parquet.ts";
import { jsonl, readDump } from "./read_dump.ts";

const TEXT = { file: "dump.jsonl", offset: 0, ids: new Uint32Array(), logProbs: {} };

Deno.test("verl: rollouts of a prompt are a group, by uid where there is one", async () => {
  const { form, sequences } = await readDump(jsonl([
    { input: "1+1", output: "2", gts: "2", score: 1, step: 3, acc: true, request_id: "r1" },
    { input: "1+1", output: "3", gts: "2", score: 0, step: 3, acc: false },
    { input: "1+2", output: "3", gts: "3", score: null, step: 3 },
    { input: "1+1", output: "2", gts: "2", score: 1, step: 3, uid: "abc_d_0_0" },
    { input: "1+2", output: "2", gts: "2", score: 1, step: 3, uid: "abc_d_1_0" },
  ]));
  assertEquals(form, "verl_rollouts");
  const [first] = sequences;
  assertEquals<TokenSequence>(first, {
    ...TEXT,
    row: 1,
    step: 3,
    group: first.group!,
    sample: "r1",
    prompt: "1+1",
    answer: "2",
    reward: 1,
    rewardParts: new Map([["acc", 1]]),
  });
  const groups = sequences.map(({ group }) => group);
  assertEquals(groups[1], groups[0]);
  assertEquals(groups[2] === groups[0], false);
  assertEquals(groups.slice(3), ["abc_d", "abc_d"]);
  assertEquals(sequences[2].reward, undefined);
});

Deno.test("verl: a NaN score is one, and a text where a score should be is refused", async () => {
  const { sequences: [{ reward }] } = await readDump('{"input":"a","output":"b","score":NaN}\n');
  assertEquals(reward, NaN);
  await assertRejects(
    () => readDump(jsonl([{ input: "a", output: "b", score: "high" }])),
    UserError,
    'row 1: score is "high", but must be a number',
  );
});

Deno.test("tinker: lengths are counted over the turns, and other splits are told", async () => {
  const row = {
    schema_version: 1,
    split: "train",
    iteration: 7,
    group_idx: 2,
    traj_idx: 1,
    tags: ["math", "hard"],
    sampling_client_step: 6,
    total_reward: 0.5,
    final_reward: 0.25,
    trajectory_metrics: { correct: 1, note: "x" },
    final_ob_len: 9,
    steps: [{ step_idx: 0, ob_len: 5, ac_len: 3 }, { step_idx: 1, ob_len: 5, ac_len: 4 }],
  };
  const { form, sequences, ignored } = await readDump(
    jsonl([row, { ...row, split: "test" }, { ...row, steps: [{}] }]),
  );
  assertEquals([form, ignored], ["tinker_rollouts", { "rows of a split other than train": 1 }]);
  assertEquals(sequences[0], {
    ...TEXT,
    row: 1,
    step: 7,
    environment: "math hard",
    group: "2",
    sample: "2.1",
    reward: 0.5,
    rewardParts: new Map([["correct", 1]]),
    answerLength: 7,
  });
  assertEquals(sequences[1].answerLength, undefined);
});

Deno.test("TRL: completions come out of Parquet, packed or not, and neighbours of one prompt are a group", async () => {
  for (const name of ["snappy", "uncompressed"] as const) {
    const { form, sequences } = await readDump(parquetFile(name));
    assertEquals(form, "trl_completions");
    assertEquals<TokenSequence>(sequences[2], {
      ...TEXT,
      row: 3,
      step: 10,
      group: "1",
      prompt: "1+1",
      answer: "answer 2 é",
      advantage: 1,
      reward: 0.5,
      rewardParts: new Map([["tests", 0.5]]),
    });
    assertEquals(sequences.map(({ group }) => group), ["1", "1", "1", "2", "2"]);
    assertEquals(sequences[4].advantage, NaN);
  }
  // A prompt that comes again after another one is another group; rows come in several portions.
  const { sequences } = await readDump(parquetFile("long"));
  assertEquals([sequences.length, sequences[2499].row, sequences[2499].group], [
    2500,
    2500,
    "1000",
  ]);
  assertEquals(sequences[2499].answer, "answer 2499 é");
});

Deno.test("TRL: of several reward functions no sum is made up, and conversations are texts", async () => {
  const messages = [{ role: "user", content: "hi" }];
  const { sequences: [{ prompt, reward, rewardParts }] } = await readDump(parquetFile("rewards"));
  assertEquals(prompt, JSON.stringify(messages));
  assertEquals([reward, rewardParts], [undefined, new Map([["a", 1], ["b", 0.5]])]);
});

Deno.test("TRL: a table that is cut off or damaged is refused in one sentence", async () => {
  const whole = parquetFile("snappy");
  for (const length of [4, 50, whole.length - 1]) {
    const error = await assertRejects(() => readDump(whole.slice(0, length)), UserError);
    assertEquals(error.message.startsWith("Cannot read dump.jsonl: its Parquet is damaged"), true);
  }
});

Deno.test("parquetRows() ends where a flipped bit would let the decoder run for ever", async () => {
  const file = parquetFile("small");
  const decode = async (maxRows: number, patienceMs = 60_000) => {
    const options = { name: "t.parquet", maxRows, patienceMs };
    return await Array.fromAsync(parquetRows(file.slice().buffer, options));
  };
  assertEquals((await decode(3)).flat().length, 3);
  await assertRejects(() => decode(2), UserError, "it has 3 rows");
  // In the header of the first page.
  file[10] ^= 8;
  await assertRejects(() => decode(3, 1000), UserError, "decoding it does not finish");
});
