/** Token dumps on disk: which files of a folder are read, gzip, and what a path is said to hold. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { contentOf, readTokens } from "../../src/files/token_source.ts";
import { findLog } from "../../src/files/log_folder.ts";
import type { TokenBatch } from "../../src/tokens/token_batch.ts";
import { jsonl } from "../tokens/read_dump.ts";
import { withFolder } from "./with_folder.ts";

/** A row of prime-rl's exports. */
const exported = (step: number, rank: number, ids = [1, 2]) => ({
  schema_version: 1,
  step,
  rank,
  micro_sequence_idx: 0,
  token_ids: ids,
  loss_mask: ids.map(() => true),
});

/** Writes files with their folders. */
function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(path, content);
    else Deno.writeFileSync(path, content);
  }
}

/** Step, rank and row of each sequence, and what was skipped. */
async function readAll(batch: TokenBatch) {
  const rows: unknown[] = [];
  for await (const { step, rank, row } of batch.sequences()) rows.push([step, rank, row]);
  const ignored = batch.source.ignored.map(({ what, count }) => [what, count]);
  return { rows, ignored: Object.fromEntries(ignored) };
}

const UNFINISHED = "steps without the file STABLE: their writer may not have finished";

/** A run's folder with exports of two steps and two ranks, and a log. */
const RUN = {
  "run/metrics.jsonl":
    '{"step":1,"time":1,"loss/mean":0.5}\n{"step":2,"time":2,"loss/mean":0.25}\n',
  "run/token_exports/step_10/rank_0.jsonl": jsonl([exported(10, 0)]),
  "run/token_exports/step_10/rank_1.jsonl": "",
  "run/token_exports/step_2/rank_0.jsonl": jsonl([exported(2, 0), exported(2, 0)]),
  "run/token_exports/step_2/rank_10.jsonl": jsonl([exported(2, 10)]),
  "run/token_exports/step_2/rank_2.jsonl": jsonl([exported(2, 2)]),
  "run/token_exports/step_2/STABLE": "",
};

Deno.test("readTokens() reads all steps and ranks of a run in their order, from whichever folder", () =>
  withFolder(async (folder) => {
    writeFiles(folder, RUN);
    const step2 = [[2, 0, 1], [2, 0, 2], [2, 2, 1], [2, 10, 1]];
    for (const path of [`${folder}/run`, `${folder}/run/token_exports`]) {
      const batch = await readTokens(path);
      const whole = {
        rows: [...step2, [10, 0, 1]],
        ignored: { "empty files": 1, [UNFINISHED]: 1 },
      };
      assertEquals(await readAll(batch), whole);
      assertEquals(await readAll(batch), whole, "a second time");
      assertEquals([batch.source.form, batch.source.producer, batch.source.files.length], [
        "token_exports",
        "prime_rl",
        5,
      ]);
    }
    const step = await readTokens(`${folder}/run/token_exports/step_2`);
    assertEquals(await readAll(step), { rows: step2, ignored: {} });
    const file = `${folder}/run/token_exports/step_2/rank_0.jsonl`;
    assertEquals((await readAll(await readTokens(file))).rows, step2.slice(0, 2));
  }));

Deno.test("readTokens() unpacks gzip, tells its progress, and says where a damaged row stands", () =>
  withFolder(async (folder) => {
    const text = jsonl([{ v: 1, ids: [1], step: 7, rank: 0 }]);
    const packed = new Uint8Array(
      await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")))
        .arrayBuffer(),
    );
    writeFiles(folder, {
      "odd name": packed,
      "dumps/tokens_step_1.jsonl": text,
      "dumps/tokens_step_2.jsonl": text + jsonl([{ v: 1, ids: [1], mask: [] }]),
    });
    const seen: unknown[] = [];
    const batch = await readTokens(`${folder}/odd name`, {
      onProgress: (read, total) => seen.push([read, total]),
    });
    assertEquals((await readAll(batch)).rows, [[7, 0, 1]]);
    assertEquals(seen, [[packed.length, packed.length]]);
    await assertRejects(
      async () => readAll(await readTokens(`${folder}/dumps`)),
      UserError,
      `Cannot read ${folder}/dumps/tokens_step_2.jsonl, row 2: mask has 0 values`,
    );
  }));

Deno.test("readTokens() refuses in one sentence what is not a dump", () =>
  withFolder(async (folder) => {
    writeFiles(folder, { "a.txt": "hello", "empty.jsonl": "", "rank_0.jsonl": "{}\n", "x/y": "" });
    const refused: readonly (readonly [string, string])[] = [
      ["a.txt", 'it is text that begins with "hello", and holds no tokens in a known form'],
      ["empty.jsonl", "it is empty"],
      ["x", "Cannot find a token dump in"],
      ["", "Cannot find a token dump in"],
      ["nothing", "there is no such file"],
    ];
    for (const [name, reason] of refused) {
      await assertRejects(() => readTokens(`${folder}/${name}`), UserError, reason);
    }
  }));

Deno.test("contentOf() tells logs from dumps by their content", () =>
  withFolder(async (folder) => {
    writeFiles(folder, {
      ...RUN,
      "common.txt": jsonl([{ v: 1, ids: [1], step: 1 }, { v: 1, ids: [1], step: 2 }]),
      junk: "\0\0",
    });
    const content = async (name: string) => {
      const { log, dump } = await contentOf(`${folder}/${name}`);
      return `${log ? "log" : ""}${dump ? "dump" : ""}`;
    };
    assertEquals(await content("run"), "logdump");
    assertEquals(await content("run/token_exports"), "dump");
    assertEquals(await content("run/metrics.jsonl"), "log");
    assertEquals(await content("run/token_exports/step_10/rank_0.jsonl"), "dump");
    assertEquals(await content("common.txt"), "dump");
    assertEquals(await content("junk"), "");
    await assertRejects(() => contentOf(`${folder}/nothing`), UserError, "no such file");
    assertThrows(() => findLog(`${folder}/run/token_exports`), UserError, "Cannot find a log");
  }));

/** A trace with one node for the prompt and one for the answer. */
const traced = (id: string, group: string, score: number, ids: readonly number[]) => ({
  id: `e-${id}`,
  env: "e",
  task: {},
  group: { id: group },
  run: { type: "train", work: { step: 2 } },
  traces: [{
    id,
    nodes: [
      { parent: null, message: { role: "user" }, token_ids: ids.slice(0, 1), mask: [false] },
      {
        parent: 0,
        message: { role: "assistant" },
        sampled: true,
        token_ids: ids.slice(1),
        mask: ids.slice(1).map(() => true),
      },
    ],
    rewards: { tests: { score, weight: 1 } },
  }],
});

Deno.test("readTokens() gives token exports the groups, rewards and roles of the traces beside them", () =>
  withFolder(async (folder) => {
    writeFiles(folder, {
      "run/token_exports/step_2/rank_0.jsonl": jsonl([
        exported(2, 0, [1, 2, 3]),
        exported(2, 0, [1, 4]),
        exported(2, 0, [9, 9]),
      ]),
      "run/token_exports/step_2/STABLE": "",
      "run/rollouts/step_2/train/effective/traces.jsonl": jsonl([
        traced("a", "g", 1, [1, 2, 3]),
        traced("b", "g", 0, [1, 4]),
      ]),
      // The same again, more that were not trained on, and an evaluation.
      "run/rollouts/step_2/train/all/traces.jsonl": jsonl([
        traced("a", "g", 1, [1, 2, 3]),
        traced("c", "h", 0, [9, 9]),
      ]),
      "run/rollouts/step_2/eval/all/traces.jsonl": jsonl([traced("d", "i", 0, [9, 9])]),
    });
    const batch = await readTokens(`${folder}/run`);
    const sequences = await Array.fromAsync(batch.sequences());
    assertEquals(sequences.map(({ group, sample, reward }) => [group, sample, reward]), [
      ["g", "a", 1],
      ["g", "b", 0],
      [undefined, undefined, undefined],
    ]);
    assertEquals([...sequences[0].roles!], [1, 2, 2]);
    assertEquals(batch.source.form, "token_exports");
    assertEquals(batch.source.files.length, 2);
    assertEquals(batch.source.ignored.map(({ what, count }) => [what, count]), [
      ["sequences that the other dump does not hold", 1],
    ]);
    const traces = await readTokens(`${folder}/run/rollouts`);
    assertEquals((await Array.fromAsync(traces.sequences())).length, 2);
    // From wherever they lie.
    const apart = await readTokens(`${folder}/run/token_exports`, {
      completedBy: `${folder}/run/rollouts/step_2/train/all/traces.jsonl`,
    });
    const groups = (await Array.fromAsync(apart.sequences())).map(({ group }) => group);
    assertEquals(groups, ["g", undefined, "h"]);
  }));
