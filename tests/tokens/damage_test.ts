/** Damaged dumps: whatever happens to the bytes, a reader answers sequences or one sentence. */
import { assert, assertEquals } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { randomSequence } from "../../src/core/rng.ts";
import { Ignored } from "../../src/logs/ignored.ts";
import { commonDumpLine } from "../../src/tokens/common_dump_line.ts";
import { TOKEN_READERS } from "../../src/tokens/token_readers.ts";
import { inputOf } from "../logs/read_text.ts";
import { parquetFile } from "./make_parquet.ts";
import { randomTokens } from "./random_sequence.ts";
import { jsonl } from "./read_dump.ts";

/** A stream of this file's own. */
const STREAM = 1701;

const ids = [5, 9, 2];
const logps = [null, -0.5, -0.25];

/** One small dump of each form. */
const DUMPS: Readonly<Record<string, string | Uint8Array>> = {
  token_exports: jsonl([{
    schema_version: 1,
    step: 1,
    micro_sequence_idx: 0,
    token_ids: ids,
    position_ids: [0, 1, 0],
    loss_mask: [false, true, true],
    inference_logprobs: logps,
    rl_weights: [1, 1, 0],
  }]),
  traces: jsonl([{
    id: "e",
    env: { id: 1 },
    task: {},
    group: { id: "g" },
    run: { work: { step: 1, policy: { start: 1, end: 2 } } },
    traces: [{
      id: "t",
      nodes: [
        { parent: null, message: { role: "user" }, token_ids: [5] },
        { parent: 0, sampled: true, token_ids: [9, 2], mask: [true, true], logprobs: [-1, -2] },
      ],
      rewards: { a: { score: 1, weight: 1 }, b: null },
      errors: [],
    }],
  }]),
  nemo_rl: jsonl([{
    rewards: [1],
    input_lengths: [2],
    token_ids: [ids],
    token_loss_mask: [[0, 1, 1]],
    advantages: [[1, 1, 1]],
    prev_logprobs: [logps],
  }]),
  common_dump: `${commonDumpLine(randomTokens(7))}\n`,
  agentrl_episodes: jsonl([{
    step: 1,
    episode: 0,
    group: 0,
    tokens: ids,
    owners: [1, 2, 3],
    logps,
    reward: 1,
    info: { task: "a", stop: "submit" },
  }]),
  verl_rollouts: jsonl([{ input: "a", output: "b", gts: "c", score: 1, step: 1, acc: true }]),
  trl_completions: parquetFile("small"),
  tinker_rollouts: jsonl([{
    split: "train",
    iteration: 1,
    group_idx: 0,
    traj_idx: 0,
    tags: ["a"],
    total_reward: 1,
    trajectory_metrics: { a: 1 },
    steps: [{ ac_len: 3 }],
  }]),
};

/** Reads bytes as a form, whether they look like it or not. */
async function readAs(form: string, bytes: Uint8Array): Promise<number> {
  const reader = TOKEN_READERS.find((reader) => reader.form === form)!;
  for (const { detect } of TOKEN_READERS) detect(bytes.subarray(0, 65536));
  try {
    let count = 0;
    for await (const sequence of reader.read(inputOf(bytes), new Ignored())) {
      // Whatever is told of tokens is told of each.
      for (const values of [sequence.mask, sequence.sampled, sequence.roles, sequence.positions]) {
        assertEquals((values ?? sequence.ids).length, sequence.ids.length);
      }
      count++;
    }
    return count;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    assert(!/[\r\n]/.test(error.message), error.message);
    return -1;
  }
}

const bytesOf = (dump: string | Uint8Array) =>
  typeof dump === "string" ? new TextEncoder().encode(dump) : dump;

Deno.test("each form has a dump here, and it is read", async () => {
  assertEquals(Object.keys(DUMPS), TOKEN_READERS.map(({ form }) => form));
  for (const [form, dump] of Object.entries(DUMPS)) {
    assert(await readAs(form, bytesOf(dump)) > 0, form);
  }
});

Deno.test("a dump that is cut off anywhere is read so far, or refused in one sentence", async () => {
  for (const [form, dump] of Object.entries(DUMPS)) {
    const bytes = bytesOf(dump);
    // Parquet is decoded by a worker, which takes its time to start.
    const every = form === "trl_completions" ? 400 : form === "common_dump" ? 7 : 1;
    for (let length = 0; length < bytes.length; length += every) {
      await readAs(form, bytes.subarray(0, length));
    }
  }
});

/** What a value may have become. */
const JUNK = ["null", "-1", "1e400", "NaN", '""', "[]", "{}", "true", "[[[]]]", "99999999999999"];

Deno.test("a dump in which any value is another is read, or refused in one sentence", async () => {
  for (const [form, dump] of Object.entries(DUMPS)) {
    if (typeof dump !== "string") continue;
    for (
      const { index, 0: value } of dump.matchAll(/(?<=[:,[])(?:[\w.+-]+|"[^"]*"(?!:)|\[\]|\{\})/g)
    ) {
      for (const junk of JUNK) {
        const damaged = dump.slice(0, index) + junk + dump.slice(index + value.length);
        await readAs(form, bytesOf(damaged));
      }
    }
  }
});

Deno.test("a dump with flipped bytes is read, or refused in one sentence", async () => {
  const random = randomSequence({ seed: 0, stream: STREAM });
  for (const [form, dump] of Object.entries(DUMPS)) {
    if (typeof dump !== "string") continue;
    for (let i = 0; i < 300; i++) {
      const bytes = bytesOf(dump).slice();
      bytes[random.integer(bytes.length)] ^= 1 << random.integer(8);
      await readAs(form, bytes);
    }
  }
});
