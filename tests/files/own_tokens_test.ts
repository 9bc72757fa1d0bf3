/** Our own runs as token dumps: what the writers of a run leave, read again. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { OWNER } from "../../src/core/owner.ts";
import { journalText } from "../../src/core/json_lines.ts";
import { readTokens } from "../../src/files/token_source.ts";
import { collate } from "../../src/rl/train_batch.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { episodeRows } from "../../src/run/episode_rows.ts";
import { writeTrainBatch } from "../../src/run/train_batch_file.ts";
import { withFolder } from "./with_folder.ts";

const INFO: BugFixInfo = {
  task: "sum_list",
  turns: 1,
  malformed: 0,
  ops: [],
  reads: 0,
  tests: 0,
  submitted: true,
  hiddenPass: true,
  publicPass: true,
  stop: "submit",
  calls: [],
};

const { prompt, policy, tool } = OWNER;

/** Two episodes of different lengths; the second has a log-prob that is none. */
const EPISODES: readonly Trajectory<BugFixInfo>[] = [
  {
    ids: Uint32Array.of(1, 2, 3, 4, 5),
    owners: Uint8Array.of(prompt, policy, tool, policy, policy),
    logps: Float32Array.of(0, -0.5, 0, 0, -0.25),
    reward: 1,
    info: INFO,
  },
  {
    ids: Uint32Array.of(1, 6, 7),
    owners: Uint8Array.of(prompt, policy, policy),
    logps: Float32Array.of(0, NaN, -1),
    reward: 0,
    info: { ...INFO, stop: "budget", submitted: false },
  },
];

const BATCH = collate(EPISODES, { groupId_B: [0, 0], vocabSize: 60 });

/** A run with episodes of steps 0 and 2, of which 2 is recorded, and so is 5. */
function writeRun(folder: string, config: Readonly<Record<string, unknown>>): void {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/config.json`, JSON.stringify({ config }));
  const rows = [0, 2].map((step) => journalText(episodeRows(step, BATCH)));
  Deno.writeTextFileSync(`${folder}/episodes.jsonl`, rows.join(""));
  for (const step of [2, 5]) {
    const path = `${folder}/steps/${step}`;
    Deno.mkdirSync(path, { recursive: true });
    Deno.writeTextFileSync(`${path}/episodes.jsonl`, journalText(episodeRows(step, BATCH)));
    writeTrainBatch(`${path}/batch.safetensors`, BATCH, {
      // One column off: the mask is read as the update used it.
      mask_BC: Float32Array.of(0, 1, 1, 0, 0, 1, 0, 0),
      advantage_B: Float64Array.of(0.5, -0.5),
    });
  }
}

async function sequencesOf(path: string) {
  return await Array.fromAsync((await readTokens(path)).sequences());
}

Deno.test("readTokens() reads a run of ours, each episode once, with mask and advantages of recorded steps", () =>
  withFolder(async (folder) => {
    const run = `${folder}/run`;
    writeRun(run, { algorithm: "grpo", temperature: 0.5, aggregation: "token_mean" });
    const sequences = await sequencesOf(run);
    assertEquals(sequences.map(({ step, sample, group }) => [step, sample, group]), [
      [0, "0", "0"],
      [0, "1", "0"],
      [2, "0", "0"],
      [2, "1", "0"],
      [5, "0", "0"],
      [5, "1", "0"],
    ]);
    const [first, second] = sequences;
    assertEquals([first.mask, first.advantage], [undefined, undefined]);
    assertEquals([...first.sampled!], [0, 1, 0, 1, 1]);
    assertEquals([...first.roles!], [1, 2, 3, 2, 2]);
    // A policy can be sure of a token; where it drew none there is no log-prob.
    assertEquals([...first.logProbs.sampler!.values], [NaN, -0.5, NaN, 0, -0.25]);
    assertEquals(second.logProbs.sampler, {
      values: Float64Array.of(NaN, NaN, -1),
      nonFinite: [1],
    });
    assertEquals([first.stop, second.stop], ["end", "length"]);
    assertEquals([first.temperature, first.loss], [0.5, { aggregation: "token_mean" }]);
    const recorded = sequences.slice(2);
    assertEquals(recorded.map(({ mask }) => [...mask!]), [
      [0, 0, 1, 1, 0],
      [0, 0, 1],
      [0, 0, 1, 1, 0],
      [0, 0, 1],
    ]);
    assertEquals(recorded.map(({ advantage }) => advantage), [0.5, -0.5, 0.5, -0.5]);
    assertEquals([...recorded[1].advantages!.values], [-0.5, -0.5, -0.5]);
    assertEquals((await sequencesOf(`${run}/steps/5`)).length, 2);
    assertEquals((await sequencesOf(`${run}/episodes.jsonl`)).length, 4);
  }));

Deno.test("readTokens() tells of a run whose adapter may round sampler and trainer differently", () =>
  withFolder(async (folder) => {
    const run = `${folder}/run`;
    writeRun(run, {});
    const apart = async (path: string) => (await readTokens(path)).source.roundsApart === true;
    assertEquals([await apart(run), await apart(`${run}/steps/2`)], [false, false]);
    const keeps = { fma_rounds: "once", contracts_products: false, reassociates_sums: false };
    for (
      const [departs, expected] of [
        [{ cancels_terms: true }, false],
        [{ contracts_products: true }, true],
        [{ reassociates_sums: true }, true],
        [{ fma_rounds: "unknown" }, true],
      ] as const
    ) {
      const arithmetic = { ...keeps, ...departs };
      Deno.writeTextFileSync(`${run}/config.json`, JSON.stringify({ config: {}, arithmetic }));
      for (const path of [run, `${run}/episodes.jsonl`, `${run}/steps/2`]) {
        assertEquals(await apart(path), expected, JSON.stringify(departs));
      }
    }
  }));

Deno.test("readTokens() tells runs apart, and of an algorithm without groups makes up none", () =>
  withFolder(async (folder) => {
    writeRun(`${folder}/a`, { algorithm: "reinforce" });
    writeRun(`${folder}/b`, { algorithm: "grpo" });
    const sequences = await sequencesOf(folder);
    assertEquals(sequences.length, 12);
    const runs = Map.groupBy(sequences, ({ run }) => run?.slice(-1));
    assertEquals([...runs.keys()].sort(), ["a", "b"]);
    assertEquals(runs.get("a")!.every(({ group }) => group === undefined), true);
    assertEquals(runs.get("b")!.every(({ group }) => group === "0"), true);
  }));

Deno.test("readTokens() refuses a recorded batch of other episodes", () =>
  withFolder(async (folder) => {
    writeRun(folder, {});
    const path = `${folder}/steps/5/episodes.jsonl`;
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("[1,2,", "[1,9,"));
    await assertRejects(
      () => sequencesOf(folder),
      UserError,
      `Cannot use ${folder}/steps/5/batch.safetensors: it does not hold episode 0 of ${path}, row 1`,
    );
  }));
